package principal

import "context"

// Origin is the place that a request came from, for the audit log. It grants nothing.
type Origin struct {
	// IP is the caller's address. Behind a trusted proxy, it is the address that the proxy names.
	IP string
	// UserAgent is the caller's own description, cut to a bound.
	UserAgent string
	// Country is the ISO 3166-1 code of the country of the address, as a trusted proxy names it; empty otherwise.
	Country string
	// Agent is the id of the agent for which the caller says that it acts. Nothing proves it.
	Agent string
}

type originKey struct{}

// WithOrigin attaches the origin of a request.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginFrom returns the origin of a request. Its fields are empty outside a request.
func OriginFrom(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
