package stacktrace_test

import "testing"

// A frame has two lines.
func TestGo(t *testing.T) {
	check(t, `goroutine 1 [running]:
panic({0x1, 0x2})
	/usr/local/go/src/runtime/panic.go:770 +0x132
github.com/acme/shop.(*Cart).Item.func1(0xc000)
	/src/cart.go:31 +0x85
main.Map[...](...)
	/src/main.go:3
net/http.HandlerFunc.ServeHTTP(0x0)
	/usr/local/go/src/net/http/server.go:2171 +0x29
created by main.main in goroutine 1
	/src/main.go:9 +0x1
goroutine 7 [select]:
github.com/jackc/pgx/v5.(*Conn).Close
	/go/pkg/mod/github.com/jackc/pgx/v5@v5.1.0/conn.go:1`, ``, `cause
go  panic /usr/local/go/src/runtime/panic.go:770
go github.com/acme/shop (*Cart).Item.func1 /src/cart.go:31 *
go main Map /src/main.go:3 *
go net/http HandlerFunc.ServeHTTP /usr/local/go/src/net/http/server.go:2171
aside
go github.com/jackc/pgx/v5 (*Conn).Close /go/pkg/mod/github.com/jackc/pgx/v5@v5.1.0/conn.go:1`)
}
