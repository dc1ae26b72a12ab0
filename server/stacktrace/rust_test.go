package stacktrace_test

import "testing"

// A frame may have its place on the next line.
func TestRust(t *testing.T) {
	check(t, `stack backtrace:
   0: core::panicking::panic_fmt
             at /rustc/9fc6/library/core/src/panicking.rs:74:14
   1:     0x55d0 - shop::cart::total::{{closure}}::h0123456789abcdef
             at ./src/cart.rs:21:30
   2: <shop::Json as shop::Codec>::decode
   3: tokio::runtime::block_on`, ``, `cause
rust core::panicking panic_fmt /rustc/9fc6/library/core/src/panicking.rs:74
rust shop::cart total::{{closure}} ./src/cart.rs:21 *
rust <shop::Json as shop::Codec> decode :0 *
rust tokio::runtime block_on :0`)
}
