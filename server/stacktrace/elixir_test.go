package stacktrace_test

import "testing"

// Frames of Elixir and tuples of Erlang.
func TestElixir(t *testing.T) {
	check(t, `** (KeyError) key :a not found
    (shop 0.1.0) lib/shop/cart.ex:14: anonymous fn/1 in Shop.Cart.total/1
    (stdlib 5.2) gen_server.erl:1095: :gen_server.try_handle_info/3
    lib/shop/boot.ex:7: Shop.Boot.start/0`, `key :a not found`, `cause KeyError
elixir Shop.Cart total lib/shop/cart.ex:14 *
elixir gen_server try_handle_info deps/stdlib:1095
elixir Shop.Boot start lib/shop/boot.ex:7 *`)
	check(t, `[{shop_cart,total,1,[{file,"src/shop_cart.erl"},{line,14}]},{lists,map,2,[{file,"lists.erl"},{line,1}]}]`, ``, `cause
elixir shop_cart total src/shop_cart.erl:14 *
elixir lists map lists.erl:1`)
}
