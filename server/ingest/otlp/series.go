package otlp

import (
	"encoding/binary"
	"math/bits"

	"github.com/svc-observability/svc/server/warehouse/native"
)

// SeriesHash is a 64-bit hash that identifies a series of a metric. It covers the metric's name, the resource attributes, the
// scope's name and the data point's attributes. The resource attributes are those of the sender and configured additions, without
// the svc_* stamps, so a new ingest key starts no new series. Attributes count as text, and their order does not matter. The hash
// is stored, so the functions below must never change.

const (
	seriesK1 = 0x9e3779b97f4a7c15
	seriesK2 = 0xbf58476d1ce4e5b9
	seriesK3 = 0x94d049bb133111eb
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func hashText(s []byte) uint64 {
	h := seriesK1 ^ uint64(len(s))*seriesK2
	for ; len(s) >= 8; s = s[8:] {
		h = fold(h^binary.LittleEndian.Uint64(s), seriesK3)
	}
	var tail uint64
	for i, c := range s {
		tail |= uint64(c) << (8 * i)
	}
	return fold(h^tail, seriesK2) ^ h>>32
}

// seriesEntry returns the hash of one attribute. The hashes of a list are added up, so its order does not matter.
func seriesEntry(key, value []byte) uint64 {
	return fold(hashText(key)+seriesK1, hashText(value)^seriesK3)
}

func seriesSum(attributes []attribute) uint64 {
	sum := uint64(0)
	for i := range attributes {
		sum += seriesEntry(attributes[i].key, attributes[i].text)
	}
	return sum
}

func seriesOfRow(m *native.Map) uint64 {
	sum := uint64(0)
	m.EachOfRow(func(key, value []byte) { sum += seriesEntry(key, value) })
	return sum
}

func seriesHash(name []byte, resource uint64, scopeName []byte, attributes uint64) uint64 {
	h := fold(hashText(name)^seriesK2, seriesK1)
	h = fold(h^resource, seriesK2) + hashText(scopeName)
	return fold(h^seriesK1, seriesK3) ^ fold(attributes+seriesK2, seriesK1)
}
