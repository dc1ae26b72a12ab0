package otlp

import (
	"slices"

	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// mapper applies the attribute mappings of an organization. It finds the keys that mappings read or write like other hot keys, so
// a span without any of them costs nothing.
type mapper struct {
	// mappings is the list that rules and keys were built from. It stays the same over many requests of an organization.
	mappings []Mapping
	rules    []rule
	keys     []mappedKey
	byName   map[string]uint16
	// slots maps the number of a key in the column's dictionary to its place in keys.
	slots []uint16
	// onEach says that the current resource has the source of a mapping, so that the mapping may apply to each span.
	onEach bool
}

// rule is a mapping with the places of its keys.
type rule struct {
	source, target uint16
	move           bool
	ofResource     bool
	// found, text and typ describe the source on the current resource.
	resourceKey string
	found       bool
	text        []byte
	typ         blocks.ValueType
}

// mappedKey is a span key that mappings read or write.
type mappedKey struct {
	name []byte
	// id is the key's number in the column's dictionary. A key that has not occurred in the request has no number.
	id    uint32
	known bool
	// source says that a mapping reads the key. If the current span has the key, text and typ hold its value.
	source bool
	text   []byte
	typ    blocks.ValueType
}

// reset makes the mapper ready for a request.
func (p *mapper) reset(mappings []Mapping) {
	p.onEach = false
	if !slices.Equal(p.mappings, mappings) {
		p.compile(mappings)
	}
	for i := range p.keys {
		p.keys[i].known = false
	}
}

func (p *mapper) compile(mappings []Mapping) {
	*p = mapper{mappings: slices.Clone(mappings), slots: p.slots, byName: map[string]uint16{}}
	for _, m := range mappings[:min(len(mappings), maxMappings)] {
		r := rule{target: p.key(m.Target), move: m.Move, ofResource: m.Context == ResourceContext}
		if r.ofResource {
			r.resourceKey = string(storedKey(m.Source))
		} else {
			r.source = p.key(m.Source)
			p.keys[r.source].source = true
		}
		p.rules = append(p.rules, r)
	}
}

// maxMappings lets the numbers of keys fit in 16 bits. It is far above the number that people write by hand.
const maxMappings = 1 << 14

func (p *mapper) key(name string) uint16 {
	stored := storedKey(name)
	if at, ok := p.byName[string(stored)]; ok {
		return at
	}
	at := uint16(len(p.keys))
	p.keys = append(p.keys, mappedKey{name: stored})
	p.byName[string(stored)] = at
	return at
}

// storedKey returns a key as the walk stores it.
func storedKey(key string) []byte {
	if len(key) > maxKeyBytes {
		return cutText([]byte(key[:maxKeyBytes]), 0, maxKeyBytes)
	}
	return []byte(key)
}

// forget releases the request's memory.
func (p *mapper) forget() {
	for i := range p.keys {
		p.keys[i].text = nil
	}
	for i := range p.rules {
		p.rules[i].text = nil
	}
	if cap(p.slots) > maxScratch {
		p.slots = nil
	}
}

// learn records the number and name of a key, and reports whether mappings read or write it.
func (p *mapper) learn(id uint32, name []byte) bool {
	if len(p.keys) == 0 {
		return false
	}
	at, ok := p.byName[string(name)]
	if !ok {
		return false
	}
	for int(id) >= len(p.slots) {
		p.slots = append(p.slots, 0)
	}
	p.slots[id] = at
	p.keys[at].id, p.keys[at].known = id, true
	return true
}

// take records the value of a mapped key, and reports whether a mapping reads it.
func (p *mapper) take(id uint32, value []byte, typ blocks.ValueType) bool {
	k := &p.keys[p.slots[id]]
	k.text, k.typ = value, typ
	return k.source
}

// enterResource looks up the mappings' sources on a resource.
func (p *mapper) enterResource(r *resource) {
	p.onEach = false
	for i := range p.rules {
		m := &p.rules[i]
		if !m.ofResource {
			continue
		}
		var a attribute
		a, m.found = r.find(m.resourceKey)
		m.text, m.typ = a.text, a.typ
		p.onEach = p.onEach || m.found
	}
}

func (k *mappedKey) on(m *native.Map) bool { return k.known && m.Has(k.id) }

// mapAttributes applies the mappings to the open row, which holds the span's attributes.
func (w *walker) mapAttributes(m *native.Map) bool {
	p := &w.hotKeys.mapper
	for i := range p.rules {
		r := &p.rules[i]
		source, target := &p.keys[r.source], &p.keys[r.target]
		text, typ := r.text, r.typ
		if r.ofResource {
			if !r.found {
				continue
			}
		} else {
			if !source.on(m) {
				continue
			}
			text, typ = source.text, source.typ
		}
		if target.on(m) {
			continue
		}
		if len(m.RowTags()) >= maxAttributes {
			w.note(issueManyAttributes, "attributes")
			continue
		}
		// A long value of the resource may be copied to many small spans, so its memory counts.
		id, ok := w.key(m, target.name, typ)
		if !ok || !w.grow(len(text)+len(text)/2) {
			return false
		}
		m.Values.Append(text)
		w.hotKeys.see(m, id, text, typ)
		if r.move && !r.ofResource {
			m.Remove(source.id)
			w.hotKeys.unsee(source.id)
		}
	}
	return true
}
