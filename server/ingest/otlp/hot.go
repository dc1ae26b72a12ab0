package otlp

import (
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Hot attributes are span attributes that fill columns of their own, that name a product event, or that attribute mappings read
// or write. They are found by the number of their key in the column's dictionary, so no span needs a comparison of texts.
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
	hotProductEvent
	hots
	// hotMapped is not a key. In hotKeys.given it says that the span has the source attribute of a mapping.
	hotMapped = hots
)

// mapped marks a key that mappings read or write. It is added to the number of the hot key.
const mapped = 0x80

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
	case productEventName:
		return hotProductEvent
	default:
		return notHot
	}
}

// hotKeys remembers which keys of a column are hot, and their values on the current span.
type hotKeys struct {
	mapper mapper
	byID   []uint8
	given  uint32
	values [hots][]byte
}

func (h *hotKeys) reset(mappings []Mapping) {
	h.byID, h.given = h.byID[:0], 0
	h.mapper.reset(mappings)
}

func (h *hotKeys) forget() {
	h.values = [hots][]byte{}
	if cap(h.byID) > maxScratch {
		h.byID = nil
	}
	h.mapper.forget()
}

// see records an attribute. The caller must not change the value until the span ends.
func (h *hotKeys) see(m *native.Map, id uint32, value []byte, typ blocks.ValueType) {
	if int(id) >= len(h.byID) || h.byID[id] != notHot {
		h.look(m, id, value, typ)
	}
}

func (h *hotKeys) look(m *native.Map, id uint32, value []byte, typ blocks.ValueType) {
	h.classify(m, id)
	if k := h.byID[id]; k != notHot {
		h.take(k, id, value, typ)
	}
}

// classify decides for every key up to the given number whether it is hot.
func (h *hotKeys) classify(m *native.Map, id uint32) {
	for int(id) >= len(h.byID) {
		next := uint32(len(h.byID))
		key := m.KeyName(next)
		k := hotKey(key)
		if h.mapper.learn(next, key) {
			k |= mapped
		}
		h.byID = append(h.byID, k)
	}
}

func (h *hotKeys) take(k uint8, id uint32, value []byte, typ blocks.ValueType) {
	if k&mapped != 0 {
		if h.mapper.take(id, value, typ) {
			h.given |= 1 << hotMapped
		}
		if k &^= mapped; k == notHot {
			return
		}
	}
	h.values[k] = value
	h.given |= 1 << k
}

// unsee forgets an attribute that was removed.
func (h *hotKeys) unsee(id uint32) {
	if k := h.byID[id] &^ mapped; k != notHot {
		h.given &^= 1 << k
	}
}

func (h *hotKeys) has(k int) bool { return h.given&(1<<k) != 0 }

func (h *hotKeys) get(k int) []byte {
	if !h.has(k) {
		return nil
	}
	return h.values[k]
}

// first returns the first of two values that is not empty.
func (h *hotKeys) first(a, b int) []byte {
	if v := h.get(a); len(v) > 0 {
		return v
	}
	return h.get(b)
}
