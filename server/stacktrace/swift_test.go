package stacktrace_test

import "testing"

// Frames of Linux and of Darwin.
func TestSwift(t *testing.T) {
	check(t, `1 [ra] 0x00005581 Cart.item(_:) + 71 in shop at /app/Cart.swift:18:20
2   Shop   0x0000000104a1b2c8 closure #1 in View.pay(_:) + 128 (View.swift:42)
3   UIKitCore   0x000000018d4f1a20 -[UIApplication run] + 96`, ``, `cause
swift shop Cart.item(_:) /app/Cart.swift:18 *
swift Shop closure #1 in View.pay(_:) View.swift:42 *
swift UIKitCore -[UIApplication run] :0`)
}
