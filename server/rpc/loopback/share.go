package loopback

import (
	"context"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// SharingConn is a Conn that does not convert an answer to protobuf bytes and back: the chain gives the answer to Share. The
// answer shares its lists, maps and messages with the message of the method, so the caller must only read it. Errors, and answers
// that are not given to Share, are converted as by Conn.
func SharingConn(h http.Handler) grpc.ClientConnInterface { return &conn{handler: h, sharing: true} }

type replyKey struct{}

// sharedReply holds the reply message of one call, which Share fills.
type sharedReply struct {
	message proto.Message
	shared  bool
}

// Share puts the answer of a method into the reply of its caller, if the call in the context came over a SharingConn. It reports
// whether it did; the handler then answers with an empty body.
func Share(ctx context.Context, answer proto.Message) bool {
	r, ok := ctx.Value(replyKey{}).(*sharedReply)
	if !ok || r.shared {
		return false
	}
	from, to := answer.ProtoReflect(), r.message.ProtoReflect()
	if from.Type() != to.Type() {
		return false
	}
	from.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		to.Set(f, v)
		return true
	})
	r.shared = true
	return true
}
