"""The modes of a call: each is one answer to "do this kernel on these operands". ``README.md`` has the list."""
