package stacktrace_test

import "testing"

// Frames with the quotes of before and after version 3.4.
func TestRuby(t *testing.T) {
	check(t, `app/cart.rb:9:in 'Cart#sum': no total (NoMethodError)
	from app/x.rb:5:in `+"`"+`block (2 levels) in run'
	from /usr/local/bundle/gems/rack-3/lib/rack.rb:1:in `+"`"+`call'`, `no total`, `cause
ruby Cart sum app/cart.rb:9 *
ruby  run app/x.rb:5 *
ruby  call /usr/local/bundle/gems/rack-3/lib/rack.rb:1`)
}
