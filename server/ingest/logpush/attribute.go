package logpush

import (
	"bytes"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/svc-observability/svc/server/limits"
)

// logAttributes is the number of the attributes field of a LogRecord.
const logAttributes = 6

// maxAttributes bounds the attributes of a line, so that a line cannot become many times its size. It is twice the limit of a
// log record. The walk therefore still sees the surplus attributes and reports them, as for any other record.
const maxAttributes = 2 * limits.ItemAttributes

// appendFields appends the fields of a line that are attributes themselves.
func (c *converter) appendFields(b, line []byte) []byte {
	var r request
	n := 0
	for quoted, value := range members(line) {
		name := text(quoted)
		if nothing(value) || r.field(string(name)) != nil {
			continue
		}
		if n++; n > maxAttributes || len(b) > c.limit {
			break
		}
		b = c.appendField(b, name, value)
	}
	return b
}

func (c *converter) appendField(b, field, value []byte) []byte {
	switch string(field) {
	case "ClientRequestReferer":
		return appendListAttribute(b, "http.request.header.referer", value)
	case "EdgeResponseContentType":
		return appendListAttribute(b, "http.response.header.content-type", value)
	case "ClientSSLProtocol":
		if version, ok := bytes.CutPrefix(scalar(value), []byte("TLSv")); ok {
			return appendTextAttribute(appendTextAttribute(b, "tls.protocol.name", []byte("tls")), "tls.protocol.version", version)
		}
	}
	name, ok := c.names[string(field)]
	if !ok {
		name = attributeName(string(field))
		if len(c.names) < maxNames {
			c.names[string(field)] = name
		}
	}
	return appendAttribute(b, name, value)
}

// maxNames bounds the memory of names. A dataset has about a hundred.
const maxNames = 1024

// attributeName returns the attribute of a field. It is OpenTelemetry's name if there is one.
func attributeName(field string) string {
	switch field {
	case "ClientIP":
		return "client.address"
	case "ClientSrcPort":
		return "client.port"
	case "ClientRequestUserAgent":
		return "user_agent.original"
	case "ClientRequestScheme":
		return "url.scheme"
	case "ClientRequestBytes":
		return "http.request.size"
	case "EdgeResponseBytes":
		return "http.response.size"
	case "EdgeResponseBodyBytes":
		return "http.response.body.size"
	case "ClientSSLCipher":
		return "tls.cipher"
	case "CacheCacheStatus":
		return "cloudflare.cache_status"
	case "ClientTCPRTTMs":
		return "cloudflare.client_tcp_rtt_ms"
	case "EdgeCFConnectingO2O":
		return "cloudflare.edge_cf_connecting_o2o"
	case "WAFSQLiAttackScore":
		return "cloudflare.waf_sqli_attack_score"
	case "WAFXSSAttackScore":
		return "cloudflare.waf_xss_attack_score"
	case "WAFRCEAttackScore":
		return "cloudflare.waf_rce_attack_score"
	default:
		return "cloudflare." + snakeCase(field)
	}
}

// snakeCase writes EdgeColoCode as edge_colo_code, RayID as ray_id and JA3Hash as ja3_hash.
func snakeCase(s string) string {
	s = strings.ReplaceAll(s, "IDs", "Ids")
	var b strings.Builder
	upper := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= 'A' && s[i] <= 'Z' }
	lower := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= 'a' && s[i] <= 'z' }
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	for i := range len(s) {
		if !upper(i) {
			b.WriteByte(s[i])
			continue
		}
		if lower(i-1) || digit(i-1) || upper(i-1) && lower(i+1) {
			b.WriteByte('_')
		}
		b.WriteByte(s[i] + 'a' - 'A')
	}
	return b.String()
}

// appendAttribute appends a JSON value with its own type.
func appendAttribute(b []byte, key string, value []byte) []byte {
	b, kv, at := openAttribute(b, key)
	return shut(shut(appendAny(b, value, 0), at), kv)
}

func openAttribute(b []byte, key string) (_ []byte, kv, value int) {
	b, kv = open(b, logAttributes)
	b, value = open(appendText(b, key), 2)
	return b, kv, value
}

// appendTextAttribute appends nothing for an empty text.
func appendTextAttribute(b []byte, key string, s []byte) []byte {
	if len(s) == 0 {
		return b
	}
	b, kv, at := openAttribute(b, key)
	return shut(shut(protowire.AppendBytes(appendTag(b, 1), s), at), kv)
}

// appendNumberAttribute appends digits as a number. The line may have quoted them.
func appendNumberAttribute(b []byte, key string, digits []byte) []byte {
	if len(digits) == 0 {
		return b
	}
	b, kv, at := openAttribute(b, key)
	return shut(shut(appendNumber(b, digits), at), kv)
}

// appendListAttribute appends a list with one value. Header attributes are lists, because a header may occur more than once.
func appendListAttribute(b []byte, key string, value []byte) []byte {
	b, kv, at := openAttribute(b, key)
	if value[0] == '[' {
		return shut(shut(appendAny(b, value, 0), at), kv)
	}
	b, list := open(b, 5)
	b, one := open(b, 1)
	return shut(shut(shut(shut(appendAny(b, value, 1), one), list), at), kv)
}

// appendHeaders appends the headers that a customer chose to log.
func appendHeaders(b []byte, prefix, field string, value []byte) []byte {
	if value == nil {
		return b
	}
	if value[0] != '{' {
		return appendAttribute(b, attributeName(field), value)
	}
	n := 0
	for name, value := range members(value) {
		if nothing(value) {
			continue
		}
		if n++; n > maxAttributes {
			break
		}
		b = appendListAttribute(b, prefix+strings.ToLower(string(text(name))), value)
	}
	return b
}

// appendMethod limits the values of http.request.method, as OpenTelemetry requires, because clients may send any word.
func appendMethod(b, method []byte) []byte {
	switch string(method) {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY", "":
		return appendTextAttribute(b, "http.request.method", method)
	}
	b = appendTextAttribute(b, "http.request.method", []byte("_OTHER"))
	return appendTextAttribute(b, "http.request.method_original", method)
}

// appendProtocol splits HTTP/2 into name and version.
func appendProtocol(b, protocol []byte) []byte {
	name, version, ok := bytes.Cut(protocol, []byte("/"))
	if !ok {
		return appendTextAttribute(b, "network.protocol.name", bytes.ToLower(protocol))
	}
	return appendTextAttribute(appendTextAttribute(b, "network.protocol.name", bytes.ToLower(name)), "network.protocol.version", version)
}

// splitURI returns the path and query of a client's request target, which may be a whole URL.
func splitURI(uri []byte) (path, query []byte) {
	if i := bytes.Index(uri, []byte("://")); i > 0 && bytes.IndexByte(uri[:i], '/') < 0 && bytes.IndexByte(uri[:i], '?') < 0 {
		uri = uri[i+3:]
		i = bytes.IndexAny(uri, "/?")
		if i < 0 {
			return []byte("/"), nil
		}
		uri = uri[i:]
	}
	path, query, _ = bytes.Cut(uri, []byte("?"))
	return path, query
}

// splitPort separates a host from its port, and removes the brackets of an address.
func splitPort(host []byte) (name, port []byte) {
	if n := len(host); n > 2 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1], nil
	}
	i := bytes.LastIndexByte(host, ':')
	if i < 0 || i+1 == len(host) || len(host)-i > 6 || bytes.IndexByte(host[i:], ']') >= 0 ||
		bytes.IndexByte(host[:i], ':') >= 0 && host[0] != '[' {
		return host, nil
	}
	for _, c := range host[i+1:] {
		if c < '0' || c > '9' {
			return host, nil
		}
	}
	name, _ = splitPort(host[:i])
	return name, host[i+1:]
}
