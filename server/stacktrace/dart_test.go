package stacktrace_test

import "testing"

// Frames of packages and of the runtime.
func TestDart(t *testing.T) {
	check(t, `#0      Cart.total.<anonymous closure> (package:shop/cart.dart:14:20)
#1      main (file:///app/bin/main.dart:3:1)
#2      _rootRun (dart:async/zone.dart:1399:13)
<asynchronous suspension>`, ``, `cause
dart Cart total package:shop/cart.dart:14 *
dart  main file:///app/bin/main.dart:3 *
dart  _rootRun dart:async/zone.dart:1399`)
}
