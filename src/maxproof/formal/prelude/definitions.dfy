// Mathematics that problems are stated in. Total functions throughout: where a function has no usual value, the value
// that Mathlib gives is taken (x / 0 = 0, sqrt of a negative number = 0, ...), so that no statement is ill-formed.

// Whole numbers

function iabs(x: int): nat { if x < 0 then -x else x }
function imin(x: int, y: int): int { if x <= y then x else y }
function imax(x: int, y: int): int { if x <= y then y else x }
// Quotient and remainder with a divisor that may be 0.
function idiv(x: int, y: int): int { if y == 0 then 0 else x / y }
function imod(x: int, y: int): int { if y == 0 then x else x % y }
// Subtraction of natural numbers, cut off at 0.
function monus(x: int, y: int): nat { if x <= y then 0 else x - y }
function ipow(base: int, exponent: nat): int
  decreases exponent
{ if exponent == 0 then 1 else base * ipow(base, exponent - 1) }
predicate even(x: int) { x % 2 == 0 }
predicate odd(x: int) { x % 2 == 1 }
