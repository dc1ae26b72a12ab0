package stacktrace_test

import "testing"

// Frames of V8, Firefox and Safari.
func TestJavaScript(t *testing.T) {
	check(t, `TypeError: x is not a function
    at new Cart (/app/src/cart.js:1:2)
    at async Object.load [as get] (file:///app/src/db.mjs:3:4)
    at /app/node_modules/express/lib/a.js:5:6
    at Array.map (<anonymous>)
    at eval (eval at run (/app/x.js:1:1), <anonymous>:2:3)
    at group (/app/(shop)/page.js:7:8) {
  [cause]: RangeError: full
      at node:internal/x:1:1
}`, `x is not a function`, `cause TypeError
javascript  Cart /app/src/cart.js:1 *
javascript  Object.load file:///app/src/db.mjs:3 *
javascript   /app/node_modules/express/lib/a.js:5
javascript  Array.map <anonymous>:0
javascript  eval <anonymous>:2
javascript  group /app/(shop)/page.js:7 *
cause RangeError
javascript   node:internal/x:1`)
	check(t, `load@https://shop.example/a.js:1:2
async*start@https://shop.example/@scope/b.js:3:4
forEach@[native code]
https://shop.example/c.js:5:6`, ``, `cause
javascript  load https://shop.example/a.js:1 *
javascript  start https://shop.example/@scope/b.js:3 *
javascript  forEach [native code]:0
javascript   https://shop.example/c.js:5 *`)
}
