package otlp

import "github.com/svc-observability/svc/server/warehouse/native"

// Hot attributes are those of a span that columns of their own are made of. They are found by the number of their key in the
// column's dictionary, so that a span costs no comparison of texts.
const (
	notHot = iota
	hotSampleRate
	hotMethod
	hotRequestMethod
	hotStatusCode
	hotResponseStatusCode
	hotRoute
	hotTarget
	hotPath
	hotURLFull
	hotURL
	hotServerAddress
	hotPeerName
	hots
)

func hotKey(key []byte) uint8 {
	switch string(key) {
	case "SampleRate":
		return hotSampleRate
	case "http.method":
		return hotMethod
	case "http.request.method":
		return hotRequestMethod
	case "http.status_code":
		return hotStatusCode
	case "http.response.status_code":
		return hotResponseStatusCode
	case "http.route":
		return hotRoute
	case "http.target":
		return hotTarget
	case "url.path":
		return hotPath
	case "url.full":
		return hotURLFull
	case "http.url":
		return hotURL
	case "server.address":
		return hotServerAddress
	case "net.peer.name":
		return hotPeerName
	default:
		return notHot
	}
}

// hotKeys remembers which keys of a column are hot, and the values of the present span.
type hotKeys struct {
	byID   []uint8
	given  uint32
	values [hots][]byte
}

func (h *hotKeys) reset() { h.byID, h.given = h.byID[:0], 0 }

func (h *hotKeys) forget() {
	h.values = [hots][]byte{}
	if cap(h.byID) > maxScratch {
		h.byID = nil
	}
}

// see takes note of an attribute. The value must stay as it is until the span ends.
func (h *hotKeys) see(m *native.Map, id uint32, value []byte) {
	for int(id) >= len(h.byID) {
		h.byID = append(h.byID, hotKey(m.KeyName(uint32(len(h.byID)))))
	}
	if k := h.byID[id]; k != notHot {
		h.values[k] = value
		h.given |= 1 << k
	}
}

func (h *hotKeys) get(k int) []byte {
	if h.given&(1<<k) == 0 {
		return nil
	}
	return h.values[k]
}

// first is the first value that is not empty.
func (h *hotKeys) first(a, b int) []byte {
	if v := h.get(a); len(v) > 0 {
		return v
	}
	return h.get(b)
}
