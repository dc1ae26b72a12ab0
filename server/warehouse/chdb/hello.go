package chdb

import (
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// helloQuery is the first statement that clickhouse-go sends on a connection.
const helloQuery = "SELECT displayName(), version(), revision(), timezone()"

// Since this revision of the ClickHouse protocol, each column of a Native block has a flag after its type: custom serialization
// or not.
const customSerializationRevision = 54454

// helloBlock answers the hello query. The answer itself is encoded at the revision that the client asked for, but it announces
// revision 0: libchdb writes all later answers in revision 0, whatever the client asks for.
func helloBlock(version string, clientRevision int) []byte {
	var b proto.Buffer
	if clientRevision > 0 {
		b.PutUVarInt(1)
		b.PutBool(false)
		b.PutUVarInt(2)
		b.PutInt32(-1)
		b.PutUVarInt(0)
	}
	column := func(name, kind string, put func()) {
		b.PutString(name)
		b.PutString(kind)
		if clientRevision >= customSerializationRevision {
			b.PutBool(false)
		}
		put()
	}
	b.PutUVarInt(4)
	b.PutUVarInt(1)
	column("displayName()", "String", func() { b.PutString("svc") })
	column("version()", "String", func() { b.PutString(version) })
	column("revision()", "UInt32", func() { b.PutUInt32(0) })
	column("timezone()", "String", func() { b.PutString("UTC") })
	return b.Buf
}

func isHello(sql string) bool { return strings.TrimSpace(sql) == helloQuery }
