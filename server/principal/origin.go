package principal

import "context"

// Origin is where a request came from, for the audit log. It says nothing about who may do what.
type Origin struct {
	// IP is the caller's address; behind a trusted proxy, the one that the proxy names.
	IP string
	// UserAgent is the caller's own word, cut to a bound.
	UserAgent string
}

type originKey struct{}

// WithOrigin attaches where a request came from.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginFrom returns where the request came from; its fields are empty outside a request.
func OriginFrom(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
