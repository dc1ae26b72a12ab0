package otlp

import (
	"bytes"
	"math"
	"strconv"
)

// httpMethod returns the method from the attributes. Without one it returns the method that begins the span's name, as in "GET
// /users" or "HTTP GET".
func (h *hotKeys) httpMethod(name []byte) []byte {
	if m := h.first(hotMethod, hotRequestMethod); len(m) > 0 {
		return m
	}
	if m, ok := bytes.CutPrefix(name, []byte("HTTP ")); ok && isMethod(m) {
		return m
	}
	if space := bytes.IndexByte(name, ' '); space > 0 && space+1 < len(name) && name[space+1] == '/' && isMethod(name[:space]) {
		return name[:space]
	}
	return nil
}

func isMethod(s []byte) bool {
	switch string(s) {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH":
		return true
	default:
		return false
	}
}

// httpRoute returns the route. A client knows no route, so for clients it is made of host and path. The result may lie in
// scratch.
func (h *hotKeys) httpRoute(client bool, scratch *[]byte) []byte {
	if r := h.get(hotRoute); len(r) > 0 {
		return r
	}
	if !client {
		return withoutQuery(h.first(hotTarget, hotPath))
	}
	if u := h.first(hotURLFull, hotURL); len(u) > 0 {
		return hostAndPath(u)
	}
	host := h.first(hotServerAddress, hotPeerName)
	path := withoutQuery(h.first(hotPath, hotTarget))
	if len(host) == 0 || len(path) == 0 {
		return path
	}
	*scratch = append(append((*scratch)[:0], host...), path...)
	return *scratch
}

func withoutQuery(path []byte) []byte {
	if i := bytes.IndexAny(path, "?#"); i >= 0 {
		return path[:i]
	}
	return path
}

func hostAndPath(url []byte) []byte {
	if i := bytes.Index(url, []byte("://")); i >= 0 {
		url = url[i+3:]
	}
	url = withoutQuery(url)
	host := url
	if i := bytes.IndexByte(url, '/'); i >= 0 {
		host = url[:i]
	}
	if i := bytes.LastIndexByte(host, '@'); i >= 0 {
		url = url[i+1:] // credentials in a URL are not part of the route
	}
	return url
}

// httpStatus returns the status code, or 0 if the value is not between 1 and 999.
func (h *hotKeys) httpStatus() uint16 {
	s := h.first(hotStatusCode, hotResponseStatusCode)
	if len(s) == 0 || len(s) > 3 {
		return 0
	}
	n := uint16(0)
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0
		}
		n = 10*n + uint16(c-'0')
	}
	return n
}

// sampleRate returns how many spans this one stands for. It is the attribute SampleRate if that is 1 or more, else the rate from
// the sampling threshold in the trace state, else 1.
func (h *hotKeys) sampleRate(traceState []byte) float64 {
	if s := h.get(hotSampleRate); len(s) > 0 {
		if rate, err := strconv.ParseFloat(string(s), 64); err == nil && rate >= 1 && !math.IsInf(rate, 0) {
			return rate
		}
	}
	if len(traceState) == 0 {
		return 1
	}
	th, _ := threshold(traceState)
	return rateOf(th)
}

// threshold reads `ot=th:c` of a W3C trace state. The result carried says whether the trace state has a threshold.
func threshold(traceState []byte) (th []byte, carried bool) {
	for len(traceState) > 0 {
		var member []byte
		member, traceState = cut(traceState, ',')
		fields, ok := bytes.CutPrefix(bytes.Trim(member, " \t"), []byte("ot="))
		if !ok {
			continue
		}
		for len(fields) > 0 {
			var f []byte
			f, fields = cut(fields, ';')
			if th, ok := bytes.CutPrefix(f, []byte("th:")); ok {
				return th, true
			}
		}
		return nil, false
	}
	return nil, false
}

func cut(s []byte, sep byte) (before, after []byte) {
	if i := bytes.IndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, nil
}

// maxThresholdRate is the largest rate that a threshold can state. A sampler that keeps fewer than one span in ten thousand
// states its rate in SampleRate.
const maxThresholdRate = 10_000

// rateOf returns the rate of a threshold. The threshold is the share of dropped traces: 64 bits in hexadecimal without trailing
// zeros. The rate is 1 if there is no threshold.
func rateOf(th []byte) float64 {
	const digits = 16
	if len(th) == 0 || len(th) > digits {
		return 1
	}
	var t uint64
	for _, c := range th {
		switch {
		case c >= '0' && c <= '9':
			t = t<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			t = t<<4 | uint64(c-'a'+10)
		default:
			return 1
		}
	}
	t <<= 4 * (digits - len(th))
	if t == 0 {
		return 1
	}
	return min(0x1p64/float64(-t), maxThresholdRate)
}
