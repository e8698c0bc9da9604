# Written by ``python -m tests.stubs`` from the declarations: change these instead.
from typing import Any
from numpy import __version__ as __version__
from numpy import testing as testing
from numpy import False_ as False_
from numpy import ScalarType as ScalarType
from numpy import True_ as True_
abs: ufunc
absolute: ufunc
acos: ufunc
acosh: ufunc
add: ufunc
from ._reductions import all as all
from ._comparing import allclose as allclose
from ._reductions import max as amax
from ._reductions import min as amin
from ._numerical import angle as angle
from ._reductions import any as any
from ._splitting import append as append
from ._functional import apply_along_axis as apply_along_axis
from ._functional import apply_over_axes as apply_over_axes
from ._ranges import arange as arange
arccos: ufunc
arccosh: ufunc
arcsin: ufunc
arcsinh: ufunc
arctan: ufunc
arctan2: ufunc
arctanh: ufunc
from ._reductions import argmax as argmax
from ._reductions import argmin as argmin
from ._sorting import argpartition as argpartition
from ._sorting import argsort as argsort
from ._indexing import argwhere as argwhere
from ._numerical import round as around
from ._creation import array as array
from ._memory import array2string as array2string
from ._comparing import array_equal as array_equal
from ._comparing import array_equiv as array_equiv
from ._memory import array_repr as array_repr
from ._splitting import array_split as array_split
from ._memory import array_str as array_str
from ._creation import asanyarray as asanyarray
from ._creation import asarray as asarray
from ._creation import asarray_chkfinite as asarray_chkfinite
from ._creation import ascontiguousarray as ascontiguousarray
from ._creation import asfortranarray as asfortranarray
asin: ufunc
asinh: ufunc
from ._manipulation import astype as astype
atan: ufunc
atan2: ufunc
atanh: ufunc
from ._manipulation import atleast_1d as atleast_1d
from ._manipulation import atleast_2d as atleast_2d
from ._manipulation import atleast_3d as atleast_3d
from ._statistics import average as average
from ._comparing import bartlett as bartlett
from numpy import base_repr as base_repr
from numpy import binary_repr as binary_repr
from ._histograms import bincount as bincount
bitwise_and: ufunc
bitwise_count: ufunc
bitwise_invert: ufunc
bitwise_left_shift: ufunc
bitwise_not: ufunc
bitwise_or: ufunc
bitwise_right_shift: ufunc
bitwise_xor: ufunc
from ._comparing import blackman as blackman
from ._joining import block as block
from numpy import bool as bool
from numpy import bool_ as bool_
from ._classes import broadcast as broadcast
from ._manipulation import broadcast_arrays as broadcast_arrays
from numpy import broadcast_shapes as broadcast_shapes
from ._manipulation import broadcast_to as broadcast_to
from numpy import byte as byte
from ._grids import c_ as c_
from ._memory import can_cast as can_cast
cbrt: ufunc
from numpy import cdouble as cdouble
ceil: ufunc
from ._indexing import choose as choose
from ._numerical import clip as clip
from ._hosted import clongdouble as clongdouble
from ._joining import column_stack as column_stack
from ._memory import common_type as common_type
from numpy import complex128 as complex128
from numpy import complex64 as complex64
from numpy import complexfloating as complexfloating
from ._indexing import compress as compress
from ._joining import concatenate as concat
from ._joining import concatenate as concatenate
conj: ufunc
conjugate: ufunc
from ._products import convolve as convolve
from ._creation import copy as copy
copysign: ufunc
from ._writing import copyto as copyto
from ._statistics import corrcoef as corrcoef
from ._products import correlate as correlate
cos: ufunc
cosh: ufunc
from ._reductions import count_nonzero as count_nonzero
from ._statistics import cov as cov
from ._products import cross as cross
from numpy import csingle as csingle
from ._reductions import cumprod as cumprod
from ._reductions import cumsum as cumsum
from ._reductions import cumulative_prod as cumulative_prod
from ._reductions import cumulative_sum as cumulative_sum
deg2rad: ufunc
degrees: ufunc
from ._splitting import delete as delete
from ._matrices import diag as diag
from ._grids import diag_indices as diag_indices
from ._grids import diag_indices_from as diag_indices_from
from ._matrices import diagflat as diagflat
from ._indexing import diagonal as diagonal
from ._numerical import diff as diff
from ._histograms import digitize as digitize
divide: ufunc
divmod: ufunc
from ._products import dot as dot
from numpy import double as double
from ._splitting import dsplit as dsplit
from ._joining import dstack as dstack
from numpy import dtype as dtype
from numpy import dtypes as dtypes
from numpy import e as e
from ._numerical import ediff1d as ediff1d
from ._products import einsum as einsum
from ._products import einsum_path as einsum_path
from ._creation import empty as empty
from ._creation import empty_like as empty_like
equal: ufunc
from numpy import errstate as errstate
from numpy import euler_gamma as euler_gamma
from numpy import exceptions as exceptions
exp: ufunc
exp2: ufunc
from ._manipulation import expand_dims as expand_dims
expm1: ufunc
from ._indexing import extract as extract
from ._matrices import eye as eye
fabs: ufunc
from . import fft as fft
from ._writing import fill_diagonal as fill_diagonal
from ._memory import finfo as finfo
from ._numerical import fix as fix
from ._classes import flatiter as flatiter
from ._indexing import flatnonzero as flatnonzero
from ._manipulation import flip as flip
from ._manipulation import fliplr as fliplr
from ._manipulation import flipud as flipud
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
float_power: ufunc
from numpy import floating as floating
floor: ufunc
floor_divide: ufunc
fmax: ufunc
fmin: ufunc
fmod: ufunc
from numpy import format_float_positional as format_float_positional
from numpy import format_float_scientific as format_float_scientific
frexp: ufunc
from ._creation import from_dlpack as from_dlpack
from ._creation import frombuffer as frombuffer
from ._files import fromfile as fromfile
from ._creation import fromfunction as fromfunction
from ._creation import fromiter as fromiter
from ._files import fromstring as fromstring
from ._creation import full as full
from ._creation import full_like as full_like
gcd: ufunc
from numpy import generic as generic
from ._files import genfromtxt as genfromtxt
from ._ranges import geomspace as geomspace
from numpy import get_include as get_include
from numpy import get_printoptions as get_printoptions
from numpy import geterr as geterr
from ._numerical import gradient as gradient
greater: ufunc
greater_equal: ufunc
from numpy import half as half
from ._comparing import hamming as hamming
from ._comparing import hanning as hanning
heaviside: ufunc
from ._histograms import histogram as histogram
from ._histograms import histogram2d as histogram2d
from ._histograms import histogram_bin_edges as histogram_bin_edges
from ._histograms import histogramdd as histogramdd
from ._splitting import hsplit as hsplit
from ._joining import hstack as hstack
hypot: ufunc
from ._numerical import i0 as i0
from ._matrices import identity as identity
from ._memory import iinfo as iinfo
from ._numerical import imag as imag
from numpy import index_exp as index_exp
from ._grids import indices as indices
from numpy import inexact as inexact
from numpy import inf as inf
from ._products import inner as inner
from ._splitting import insert as insert
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int8 as int8
from numpy import int_ as int_
from numpy import intc as intc
from numpy import integer as integer
from ._numerical import interp as interp
from ._sets import intersect1d as intersect1d
from numpy import intp as intp
invert: ufunc
from ._comparing import isclose as isclose
from ._comparing import iscomplex as iscomplex
from ._comparing import iscomplexobj as iscomplexobj
from numpy import isdtype as isdtype
isfinite: ufunc
from ._memory import isfortran as isfortran
from ._sets import isin as isin
isinf: ufunc
isnan: ufunc
from ._comparing import isneginf as isneginf
from ._comparing import isposinf as isposinf
from ._comparing import isreal as isreal
from ._comparing import isrealobj as isrealobj
from ._comparing import isscalar as isscalar
from numpy import issubdtype as issubdtype
from numpy import iterable as iterable
from ._grids import ix_ as ix_
from ._comparing import kaiser as kaiser
from ._products import kron as kron
lcm: ufunc
ldexp: ufunc
left_shift: ufunc
less: ufunc
less_equal: ufunc
from ._sorting import lexsort as lexsort
from . import lib as lib
from . import linalg as linalg
from ._ranges import linspace as linspace
from numpy import little_endian as little_endian
from ._memory import load as load
from ._files import loadtxt as loadtxt
log: ufunc
log10: ufunc
log1p: ufunc
log2: ufunc
logaddexp: ufunc
logaddexp2: ufunc
logical_and: ufunc
logical_not: ufunc
logical_or: ufunc
logical_xor: ufunc
from ._ranges import logspace as logspace
from numpy import long as long
from ._hosted import longdouble as longdouble
from numpy import longlong as longlong
from ._grids import mask_indices as mask_indices
matmul: ufunc
from ._manipulation import matrix_transpose as matrix_transpose
matvec: ufunc
from ._reductions import max as max
maximum: ufunc
from ._memory import may_share_memory as may_share_memory
from ._reductions import mean as mean
from ._statistics import median as median
from ._matrices import meshgrid as meshgrid
from ._grids import mgrid as mgrid
from ._reductions import min as min
from ._memory import min_scalar_type as min_scalar_type
minimum: ufunc
from numpy import mintypecode as mintypecode
mod: ufunc
modf: ufunc
from ._manipulation import moveaxis as moveaxis
multiply: ufunc
from numpy import nan as nan
from ._numerical import nan_to_num as nan_to_num
from ._nan_reductions import nanargmax as nanargmax
from ._nan_reductions import nanargmin as nanargmin
from ._nan_reductions import nancumprod as nancumprod
from ._nan_reductions import nancumsum as nancumsum
from ._nan_reductions import nanmax as nanmax
from ._nan_reductions import nanmean as nanmean
from ._statistics import nanmedian as nanmedian
from ._nan_reductions import nanmin as nanmin
from ._statistics import nanpercentile as nanpercentile
from ._nan_reductions import nanprod as nanprod
from ._statistics import nanquantile as nanquantile
from ._nan_reductions import nanstd as nanstd
from ._nan_reductions import nansum as nansum
from ._nan_reductions import nanvar as nanvar
from ._classes import ndarray as ndarray
from ._classes import ndenumerate as ndenumerate
from ._manipulation import ndim as ndim
from numpy import ndindex as ndindex
negative: ufunc
from numpy import newaxis as newaxis
nextafter: ufunc
from ._indexing import nonzero as nonzero
not_equal: ufunc
from numpy import number as number
from ._grids import ogrid as ogrid
from ._creation import ones as ones
from ._creation import ones_like as ones_like
from ._products import outer as outer
from ._functional import packbits as packbits
from ._padding import pad as pad
from ._sorting import partition as partition
from ._statistics import percentile as percentile
from ._manipulation import transpose as permute_dims
from numpy import pi as pi
from ._functional import piecewise as piecewise
from ._writing import place as place
from ._polynomials import poly as poly
from numpy import poly1d as poly1d
from ._polynomials import polyadd as polyadd
from ._polynomials import polyder as polyder
from ._polynomials import polydiv as polydiv
from ._polynomials import polyfit as polyfit
from ._polynomials import polyint as polyint
from ._polynomials import polymul as polymul
from . import polynomial as polynomial
from ._polynomials import polysub as polysub
from ._polynomials import polyval as polyval
positive: ufunc
pow: ufunc
power: ufunc
from numpy import printoptions as printoptions
from ._reductions import prod as prod
from numpy import promote_types as promote_types
from ._reductions import ptp as ptp
from ._writing import put as put
from ._writing import put_along_axis as put_along_axis
from ._writing import putmask as putmask
from ._statistics import quantile as quantile
from ._grids import r_ as r_
rad2deg: ufunc
radians: ufunc
from . import random as random
from ._manipulation import ravel as ravel
from ._grids import ravel_multi_index as ravel_multi_index
from ._numerical import real as real
from ._numerical import real_if_close as real_if_close
reciprocal: ufunc
remainder: ufunc
from ._splitting import repeat as repeat
from ._creation import require as require
from ._manipulation import reshape as reshape
from ._splitting import resize as resize
from ._memory import result_type as result_type
right_shift: ufunc
rint: ufunc
from ._manipulation import roll as roll
from ._manipulation import rollaxis as rollaxis
from ._polynomials import roots as roots
from ._manipulation import rot90 as rot90
from ._numerical import round as round
from ._joining import row_stack as row_stack
from numpy import s_ as s_
from ._memory import save as save
from ._files import savetxt as savetxt
from ._memory import savez as savez
from ._memory import savez_compressed as savez_compressed
from numpy import sctypeDict as sctypeDict
from ._sorting import searchsorted as searchsorted
from ._indexing import select as select
from numpy import set_printoptions as set_printoptions
from ._sets import setdiff1d as setdiff1d
from numpy import seterr as seterr
from ._sets import setxor1d as setxor1d
from ._manipulation import shape as shape
from ._memory import shares_memory as shares_memory
from numpy import short as short
sign: ufunc
signbit: ufunc
from numpy import signedinteger as signedinteger
sin: ufunc
from ._numerical import sinc as sinc
from numpy import single as single
sinh: ufunc
from ._manipulation import size as size
from ._sorting import sort as sort
from ._sorting import sort_complex as sort_complex
spacing: ufunc
from ._splitting import split as split
sqrt: ufunc
square: ufunc
from ._manipulation import squeeze as squeeze
from ._joining import stack as stack
from ._reductions import std as std
subtract: ufunc
from ._reductions import sum as sum
from ._manipulation import swapaxes as swapaxes
from ._indexing import take as take
from ._indexing import take_along_axis as take_along_axis
tan: ufunc
tanh: ufunc
from ._products import tensordot as tensordot
from ._splitting import tile as tile
from ._products import trace as trace
from ._manipulation import transpose as transpose
from ._numerical import trapezoid as trapezoid
from ._matrices import tri as tri
from ._matrices import tril as tril
from ._grids import tril_indices as tril_indices
from ._grids import tril_indices_from as tril_indices_from
from ._splitting import trim_zeros as trim_zeros
from ._matrices import triu as triu
from ._grids import triu_indices as triu_indices
from ._grids import triu_indices_from as triu_indices_from
true_divide: ufunc
trunc: ufunc
from ._hosted import typecodes as typecodes
from numpy import typename as typename
from numpy import typing as typing
from numpy import ubyte as ubyte
from ._ufunc import ufunc as ufunc
from numpy import uint as uint
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uint8 as uint8
from numpy import uintc as uintc
from numpy import uintp as uintp
from numpy import ulong as ulong
from numpy import ulonglong as ulonglong
from ._sets import union1d as union1d
from ._sets import unique as unique
from ._sets import unique_all as unique_all
from ._sets import unique_counts as unique_counts
from ._sets import unique_inverse as unique_inverse
from ._sets import unique_values as unique_values
from ._functional import unpackbits as unpackbits
from ._grids import unravel_index as unravel_index
from numpy import unsignedinteger as unsignedinteger
from ._splitting import unstack as unstack
from ._numerical import unwrap as unwrap
from numpy import ushort as ushort
from ._matrices import vander as vander
from ._reductions import var as var
from ._products import vdot as vdot
vecdot: ufunc
vecmat: ufunc
from ._vectorize import vectorize as vectorize
from ._splitting import vsplit as vsplit
from ._joining import vstack as vstack
from ._indexing import where as where
from ._creation import zeros as zeros
from ._creation import zeros_like as zeros_like
