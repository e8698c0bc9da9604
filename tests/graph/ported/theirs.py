"""PyTensor's tests, which of ours is for each, and why some of them have none.

The names are those of PyTensor's tests at commit f857e69617. ``python -m tests.graph.ported.theirs`` writes what
``docs/coming-from/pytensor-tests.md`` says of them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[3] / "docs" / "coming-from" / "pytensor-tests.md"
BEGIN, END = "% begin of the table", "% end of the table"


class File(NamedTuple):
    """A file of theirs: how many tests it has, those that hold here, and those that don't apply.

    ``held`` has for each of ours, ``module::test``, the names of theirs; ``apart`` has them for each reason.
    """

    path: str
    tests: int
    held: dict[str, str]
    apart: dict[str, str]


PRINTING = "prints each replacement; here the errors of mode `debug` name the rewrite"
INTERNED = "graphs as interned, comparable values"
SYMBOLS = "symbols: a Python function is compiled, with Python's rules for its arguments"
DTYPES = "dtypes declared for inputs; a function is compiled anew for other ones"
DEFAULTS = "updates that belong to a variable and not to a function"
GIVENS = "`givens=` of state, and errors of `givens=` for inputs, which may be replaced here"
SWAPS = "a compiled function with other state; state is an argument, or another function is compiled"
IN_C = "operations written in C"
INTERNALS = "the insides of the executor: storage, containers, `trust_input`"
SPARSE = "sparse arrays"
REMOVAL = "removes a node or an input with all that depends on it; here a graph of other outputs is made"
ASSERTIONS = "`Assert` nodes that are merged (most of these tests are skipped there)"
DAMAGE = "a check of graphs that were damaged by hand; here the clients are found anew after each change"

FILES = [
    File(
        "graph/test_destroyhandler.py",
        25,
        {
            "test_destroying::test_changes": """test_aliased_inputs_replacement test_usage_loop_through_views_2
                test_indirect test_indirect_2 test_misc_2 test_repair_destroy_path test_usage_loop_through_views
                test_value_repl test_value_repl_2""",
            "test_destroying::test_aliased_arguments": """test_aliased_inputs test_aliased_inputs2
                test_aliased_inputs_tolerate test_aliased_inputs_tolerate2 test_same_aliased_inputs_ignored
                test_different_aliased_inputs_ignored""",
            "test_destroying::test_views_of_views_go_and_a_destroyer_comes": "test_misc",
            "test_destroying::test_what_is_indestructible_is_so_in_a_copy": "test_indestructible",
            "test_destroying::test_what_is_indestructible_is_so_through_a_view": "test_indestructible_through_views",
            "test_destroying::test_two_results_that_would_overwrite_each_others_argument": "test_destroyers_loop",
            "test_destroying::test_a_ring_of_destroyers_stays_open": "test_long_destroyers_loop",
            "test_destroying::test_several_destroyers_of_one_variable": """test_multi_destroyers
                test_multi_destroyers_through_views""",
            "test_destroying::test_a_reader_of_what_was_destroyed": "test_usage_loop",
            "test_destroying::test_one_copy_of_a_chain_has_to_stay": "test_usage_loop_insert_views",
            "test_destroying::test_of_two_outputs_the_one_that_may_be_in_place": "test_multiple_inplace",
        },
        {},
    ),
    File(
        "graph/test_features.py",
        9,
        {
            "test_function_graphs::test_a_feature_that_raises_leaves_the_graph_as_it_was": (
                "TestReplaceValidate.test_verbose"
            ),
            "test_function_graphs::test_a_pickled_graph_takes_changes_back": """
                TestPickleRoundTrip.test_checkpoint_after_pickle
                TestPickleRoundTrip.test_replace_all_validate_after_pickle""",
            "test_function_graphs::test_features_go_on_in_a_pickled_graph": """
                TestPickleRoundTrip.test_execute_callbacks_after_pickle
                TestPickleRoundTrip.test_destroy_handler_after_pickle""",
            "test_function_graphs::test_a_graph_is_pickled_after_a_rule_without_a_name_of_its_own": (
                "TestPickleRoundTrip.test_history_reason_is_stringified_on_pickle"
            ),
        },
        {
            "a history of changes that goes forward again; a transaction takes changes back": "test_full_history",
            "features that give a graph methods": """test_provides_callback_collision_rejected_at_class_time
                test_feature_provides_dispatch_contract""",
        },
    ),
    File(
        "graph/test_fg.py",
        50,
        {
            "test_function_graphs::test_a_graph_is_pickled": """TestFunctionGraph.test_pickle
                TestFrozenFunctionGraph.test_pickle_round_trip TestFrozenFunctionGraph.test_pickle_with_constants
                TestFrozenFunctionGraph.test_pickle_identity_output
                TestFrozenFunctionGraph.test_pickle_multi_output_shared_subexpr""",
            "test_function_graphs::test_what_is_no_graph": "TestFunctionGraph.test_validate_inputs",
            "test_function_graphs::test_what_a_new_graph_knows": "TestFunctionGraph.test_init",
            "test_function_graphs::test_users_of_a_variable_go_one_by_one": "TestFunctionGraph.test_remove_client",
            "test_function_graphs::test_nodes_are_included_before_they_are_used": """
                TestFunctionGraph.test_import_node TestFunctionGraph.test_import_var""",
            "test_function_graphs::test_one_use_gets_another_variable": "TestFunctionGraph.test_change_input",
            "test_function_graphs::test_a_variable_is_replaced_everywhere": "TestFunctionGraph.test_replace",
            "test_function_graphs::test_a_circle_is_refused": "TestFunctionGraph.test_replace_circular",
            "test_function_graphs::test_a_replacement_that_needs_a_stranger_changes_nothing": (
                "TestFunctionGraph.test_replace_bad_state"
            ),
            "test_function_graphs::test_what_a_graph_has": "TestFunctionGraph.test_contains",
            "test_function_graphs::test_a_graph_of_fewer_outputs_has_what_these_need": """
                TestFunctionGraph.test_remove_output TestFunctionGraph.test_remove_output_2
                TestFunctionGraph.test_remove_output_3 TestFunctionGraph.test_remove_output_empty""",
            "test_function_graphs::test_a_graph_of_nothing": """TestFunctionGraph.test_empty
                TestFrozenFunctionGraph.test_input_passed_directly_to_output""",
            "test_function_graphs::test_a_graph_prints_itself": "TestFunctionGraph.test_dprint",
            "test_function_graphs::test_equal_nodes_and_constants_become_one": (
                "TestFrozenFunctionGraph.test_deduplication"
            ),
            "test_function_graphs::test_a_graph_needs_its_inputs": """
                TestFrozenFunctionGraph.test_orphan_non_constant_raises
                TestFrozenFunctionGraph.test_unmapped_output_raises""",
            "test_function_graphs::test_each_input_of_a_node_is_known_though_constants_are_equal": (
                "TestFrozenFunctionGraph.test_interned_constant_in_variables"
            ),
            "test_function_graphs::test_equal_nodes_with_other_types_stay_two": (
                "TestFrozenFunctionGraph.test_value_dependent_output_type_collision"
            ),
            "test_function_graphs::test_constants_are_outputs": """TestFrozenFunctionGraph.test_output_clients
                TestFrozenFunctionGraph.test_bind_constant_output""",
            "test_function_graphs::test_a_graph_begins_at_any_variables": """
                TestFrozenFunctionGraph.test_from_structural_inputs_only_root_inputs
                TestFrozenFunctionGraph.test_from_structural_inputs_only_intermediate_inputs
                TestFrozenFunctionGraph.test_from_structural_inputs_mixed_inputs
                TestFrozenFunctionGraph.test_from_structural_inputs_dead_inputs""",
            "test_function_graphs::test_a_graph_that_begins_too_late": (
                "TestFrozenFunctionGraph.test_from_structural_inputs_unreachable_output_raises"
            ),
        },
        {
            PRINTING: "TestFunctionGraph.test_replace_verbose TestFunctionGraph.test_optimizer_verbose",
            DAMAGE: "TestFunctionGraph.test_check_integrity",
            REMOVAL: """TestFunctionGraph.test_remove_node TestFunctionGraph.test_remove_input
                TestFunctionGraph.test_remove_in_and_out TestFunctionGraph.test_remove_duplicates
                TestFunctionGraph.test_remove_node_multi_out""",
            INTERNED: """TestFunctionGraph.test_nominals TestFrozenFunctionGraph.test_hashability_and_comparison
                TestFrozenFunctionGraph.test_nominal_inputs_renumbered
                TestFrozenFunctionGraph.test_cross_graph_output_identity
                TestFrozenFunctionGraph.test_pickle_hash_stability
                TestFrozenFunctionGraph.test_different_arity_not_equal
                TestFrozenFunctionGraph.test_constant_output_equality
                TestFrozenFunctionGraph.test_freeze_unfreeze_round_trip""",
        },
    ),
    File(
        "compile/debug/test_debugmode.py",
        20,
        {
            "test_debug::test_what_is_right_is_let_be": """test_debugmode_basic test_function_list
                TestPreallocatedOutput.test_output_broadcast_tensor""",
            "test_debug::test_kernels": """test_badthunkoutput test_baddestroymap TestViewMap.test_badviewmap_ref
                TestViewMap.test_badviewmap_slice TestViewMap.test_goodviewmap""",
            "test_debug::test_a_rule_that_gives_another_type_is_refused": "test_badoptimization_opt_err",
            "../test_debugmode::test_the_rewrite_that_changed_a_value_is_named": "test_badoptimization",
            "../test_debugmode::test_a_rewrite_that_is_not_the_same_each_time": "test_stochasticoptimization",
            "../test_debugmode::test_row_outputs_aliased_both_declared_views_of_one_input": (
                "TestViewMap.test_aliased_outputs_ok"
            ),
            "../test_debugmode::test_row_outputs_aliased_only_function_outputs": (
                "TestViewMap.test_aliased_outputs_ok_output"
            ),
            "../test_debugmode::test_row_outputs_aliased_one_unused": "TestViewMap.test_aliased_outputs_ok_shadow",
            "../test_debugmode::test_row_outputs_aliased_both_used_later": "TestViewMap.test_aliased_outputs_bad",
            "../test_debugmode::test_a_buffer_that_is_not_filled_right": """TestPreallocatedOutput.test_f_contiguous
                TestPreallocatedOutput.test_f_contiguous_out""",
        },
        {IN_C: "test_just_c_code test_baddestroymap_c TestViewMap.test_badviewmap_c"},
    ),
    File(
        "compile/test_maker.py",
        45,
        {
            "test_functions::test_a_compiled_function_has_the_name_of_the_function": "test_function_name",
            "test_functions::test_what_is_mutable_is_used": "TestFunctionIn.test_in_mutable",
            "test_functions::test_a_counter_counts": """TestFunctionIn.test_in_update
                TestFunction.test_default_scalar_container TestFunction.test_default_updates""",
            "test_functions::test_an_update_that_does_not_fit": "TestFunctionIn.test_in_update_wrong_dtype",
            "../test_compile_options::test_case_swaps": "TestFunctionIn.test_in_update_shared",
            "../test_compile_options::test_bad_options": "TestFunction.test_errors",
            "test_functions::test_functions_share_what_they_capture": """TestFunction.test_doc
                TestFunction.test_shared TestFunction.test_default_container""",
            "../test_compile_options::test_an_array_of_our_own_is_updated_in_its_memory": (
                "TestFunction.test_shared_mutable"
            ),
            "test_functions::test_updates": """TestFunction.test_update TestFunction.test_clone0
                TestFunction.test_default_updates_multiple TestFunction.test_default_updates_chained
                TestFunction.test_update_same TestFunction.test_update_equiv""",
            "test_functions::test_results_are_nobodys_but_the_callers": (
                "TestAliasingRules.test_shared_constructor_copies"
            ),
            "test_functions::test_mutable_arguments_that_overlap": """
                TestAliasingRules.test_input_aliasing_affecting_inplace_operations
                TestAliasingRules.test_partial_input_aliasing_affecting_inplace_operations""",
            "test_functions::test_updates_share_nothing": """
                TestAliasingRules.test_potential_output_aliasing_induced_by_updates
                TestAliasingRules.test_no_aliasing_0 TestAliasingRules.test_no_aliasing_1
                TestAliasingRules.test_no_aliasing_2 TestAliasingRules.test_no_aliasing_2b""",
            "../test_givens::test_an_input_is_replaced_by_an_expression": "TestFunction.test_givens",
        },
        {
            DTYPES: """TestFunctionIn.test_in_strict TestFunctionIn.test_in_allow_downcast_int
                TestFunctionIn.test_in_allow_downcast_floatX TestFunctionIn.test_in_allow_downcast_vector_floatX
                TestFunction.test_allow_input_downcast_int TestFunction.test_allow_downcast_floatX""",
            SYMBOLS: """TestFunctionIn.test_in_shared_variable TestFunction.test_no_shared_as_input
                TestFunction.test_duplicate_updates TestFunction.test_duplicate_inputs
                TestFunction.test_update_err_broadcast""",
            DEFAULTS: """TestFunction.test_no_default_updates TestFunction.test_default_updates_expressions
                TestFunction.test_default_updates_input TestFunction.test_default_updates_partial_graph""",
            GIVENS: """TestFunction.test_givens_replaces_shared_variable
                TestFunction.test_givens_replaces_shared_variable2""",
            SPARSE: "TestAliasingRules.test_sparse_input_aliasing_affecting_inplace_operations",
        },
    ),
    File(
        "compile/test_executor.py",
        41,
        {
            "test_functions::test_what_is_returned": """TestFunction.test_none TestFunction.test_empty
                TestFunction.test_output_list_still_works""",
            "test_functions::test_arguments_by_position_and_by_name": """TestFunction.test_extra_inputs
                TestFunction.test_input_anon_singleton TestFunction.test_input_anon_unpack
                TestFunction.test_naming_rule0""",
            "test_functions::test_arguments_without_a_name": """TestFunction.test_naming_rule1
                TestFunction.test_naming_rule2""",
            "test_function_graphs::test_a_graph_needs_its_inputs": "TestFunction.test_missing_inputs",
            "../test_pickling::test_a_compiled_function_is_copied_and_pickled": """TestFunction.test_copy
                TestPicklefunction.test_deepcopy TestPicklefunction.test_pickle""",
            "test_functions::test_two_functions_with_one_state": """TestFunction.test_shared_state0
                TestFunction.test_shared_state1 TestFunction.test_shared_state2
                TestFunction.test_shared_state_not_implicit""",
            "test_functions::test_a_constant_that_is_returned": "TestFunction.test_constant_output",
            "test_functions::test_results_are_nobodys_but_the_callers": "TestFunction.test_borrow_input",
            "../test_compile_options::test_borrowed_results_are_used_again": "TestFunction.test_borrow_output",
            "../test_calls::test_what_is_dropped_is_freed": "TestFunction.test_free",
            "../test_givens::test_without_any_nothing_changes": "TestFunction.test_empty_givens_updates",
            "test_functions::test_mutable_arguments_that_overlap": "TestFunction.test_check_for_aliased_inputs",
            "test_function_graphs::test_a_graph_prints_itself": "TestFunction.test_dprint",
            "../test_pickling::test_what_holds_compiled_functions_is_copied_and_pickled": """
                TestPicklefunction.test_deepcopy_shared_container TestPicklefunction.test_multiple_functions
                TestPicklefunction.test_pickle_class_with_functions""",
        },
        {
            SYMBOLS: """TestFunction.test_same_names TestFunction.test_weird_names
                TestFunction.test_disconnected_input TestFunction.test_masked_input""",
            GIVENS: "TestFunction.test_givens_input_var TestFunction.test_rebuild_strict",
            SWAPS: """TestFunction.test_swap_SharedVariable TestFunction.test_swap_SharedVariable_with_given
                TestFunction.test_copy_delete_updates""",
            INTERNALS: """TestFunction.test_trust_input TestFunction.test_copy_share_memory
                TestPicklefunction.test_deepcopy_trust_input""",
            "pickles of what was compiled; here a pickle has the function, which is compiled anew": """
                TestPicklefunction.test_optimizations_preserved TestPicklefunction.test_broken_pickle_with_shared""",
        },
    ),
    File(
        "graph/rewriting/test_basic.py, merging",
        16,
        {
            "test_inplace::test_merges": """TestMergeOptimizer.test_straightforward
                TestMergeOptimizer.test_constant_merging TestMergeOptimizer.test_deep_merge
                TestMergeOptimizer.test_no_merge TestMergeOptimizer.test_no_merge_attempt_on_destroyed_variables
                TestMergeOptimizer.test_merge_single_destroyer_feasible
                TestMergeOptimizer.test_merge_single_destroyer_infeasible TestMergeOptimizer.test_merge_outputs
                TestMergeOptimizer.test_identical_constant_args TestMergeOptimizer.test_merge_noinput""",
        },
        {
            ASSERTIONS: """TestMergeOptimizer.test_one_assert_merge
                TestMergeOptimizer.test_both_assert_merge_identical TestMergeOptimizer.test_both_assert_merge_1
                TestMergeOptimizer.test_both_assert_merge_2 TestMergeOptimizer.test_both_assert_merge_2_reverse""",
            "types that say more or less of one value": "TestMergeOptimizer.test_merge_more_specific_types",
        },
    ),
    File(
        "scan/rewriting/test_inplace.py",
        7,
        {
            "test_inplace::test_a_loop_that_carries_nothing_overwrites_nothing": (
                "TestScanInplaceOptimizer.test_no_inplace"
            ),
            "test_inplace::test_a_loop_overwrites_what_it_carries_and_not_what_it_was_passed": (
                "TestScanInplaceOptimizer.test_inplace_basic"
            ),
            "test_inplace::test_a_recurrent_network": """TestScanInplaceOptimizer.test_simple_rnn
                TestScanInplaceOptimizer.test_simple_rnn_2""",
            "test_inplace::test_a_loop_from_a_constant_leaves_the_constant": "TestScanInplaceOptimizer.test_inplace3",
        },
        {
            "random generators as values that a loop carries": """
                TestScanInplaceOptimizer.test_inplace_untraced_sit_sot
                TestScanInplaceOptimizer.test_untraced_sit_sot_unowned_not_inplaced""",
        },
    ),
    File(
        "in-place tests of `tensor`, `compile/test_mode.py` and `test_ifelse.py`",
        22,
        {
            "test_inplace::test_bits_in_place": "test_XOR_inplace",
            "test_inplace::test_a_result_of_another_dtype_is_in_no_argument": """test_inplace_dtype_changed
                TestBroadcast.test_perform_inplace""",
            "test_inplace::test_results_are_written_over_what_is_dead": "TestFusion.test_add_mul_fusion_inplace",
            "test_inplace::test_two_results_of_which_one_reads_the_others_argument": (
                "TestFusion.test_fusion_multiout_inplace"
            ),
            "test_inplace::test_views_of_one_input_whose_users_would_overwrite_it": "test_InplaceElemwiseOptimizer_bug",
            "test_inplace::test_a_write_to_what_was_just_computed_copies_nothing": (
                "TestSubtensorIncSubtensor.test_inplace"
            ),
            "test_inplace::test_two_sums_that_begin_with_the_same_zeros": (
                "TestSubtensorIncSubtensor.test_inplace_shared_zeros_alloc"
            ),
            "test_inplace::test_an_argument_that_is_read_again_stays": "test_inplace0 test_inplace1",
            "test_inplace::test_an_update_by_an_outer_product": "TestGer.test_inplace",
            "test_destroying::test_aliased_arguments": """TestGemm.test_destroy_map0 TestGemm.test_destroy_map1
                TestGemm.test_destroy_map2 TestGemm.test_destroy_map3""",
            "test_inplace::test_a_decomposition_of_what_may_be_overwritten": "TestInplace.test_cholesky",
            "test_inplace::test_equations_of_what_may_be_overwritten": "TestInplace.test_solve",
            "test_inplace::test_each_argument_that_may_be_overwritten": "test_partial_inplace",
            "test_inplace::test_a_branch_is_chosen_for_arrays_of_any_length": "TestIfelse.test_not_lazy_if_inplace",
        },
        {
            IN_C: "TestBroadcast.test_c_inplace",
            "in-place operations that users write into programs": "test_exp_inplace_grad_1",
            "a feature that keeps outputs from being computed in place": "test_NoOutputFromInplace",
        },
    ),
]


def names(of: dict[str, str]) -> list[str]:
    """Return the names of theirs in one of the two maps of a file."""
    return [name for each in of.values() for name in each.split()]


def table() -> str:
    """Return the table of files, and the reasons."""
    lines = ["| PyTensor's file | tests | hold here | don't apply | fail |", "|---|---|---|---|---|"]
    totals = [0, 0, 0]
    reasons: dict[str, list[str]] = {}
    for file in FILES:
        counts = [file.tests, len(names(file.held)), len(names(file.apart))]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        path = (
            file.path if "`" in file.path else f"`{file.path.split(',')[0]}`{file.path[len(file.path.split(',')[0]) :]}"
        )
        lines.append(f"| {path} | {counts[0]} | {counts[1]} | {counts[2]} | 0 |")
        for reason, theirs in file.apart.items():
            reasons.setdefault(reason, []).extend(theirs.split())
    lines.append(f"| **all** | **{totals[0]}** | **{totals[1]}** | **{totals[2]}** | **0** |")
    lines += ["", "## What doesn't apply", ""]
    for reason, theirs in sorted(reasons.items(), key=lambda each: -len(each[1])):
        lines.append(f"- **{reason}** ({len(theirs)}): {', '.join(f'`{name}`' for name in theirs)}.")
    return "\n".join(lines)


def page(text: str) -> str:
    """Return the page with the table as it is now."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{PAGE.name} is written\n")
