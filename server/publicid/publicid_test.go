package publicid_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/svc-observability/svc/server/publicid"
)

// TestVectors compares with values worked out by hand: mode byte, then the data, as one big-endian number.
func TestVectors(t *testing.T) {
	for text, want := range map[string]string{
		"":  "x_3",  // 0x02 = 2
		"a": "x_BW", // 0x0261 = 609 = 10·58 + 29
	} {
		if got := publicid.EncodeText("x", text); got != want {
			t.Errorf("EncodeText(%q) = %s, want %s", text, got, want)
		}
	}
	// 0x01 and sixteen zero bytes are 2^128, 22 digits of base 58.
	got := publicid.Encode(publicid.APIKey, uuid.Nil)
	if !strings.HasPrefix(got, "key_") || len(got) != len("key_")+22 {
		t.Errorf("Encode(nil) = %s", got)
	}
	if id, err := publicid.Decode(publicid.APIKey, got); err != nil || id != uuid.Nil {
		t.Errorf("Decode(%s) = %v, %v", got, id, err)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		if got, err := publicid.Decode("key", publicid.Encode("key", id)); err != nil || got != id {
			t.Fatalf("%v came back as %v, %v", id, got, err)
		}
		text := rapid.StringN(1, -1, 100).Draw(t, "text")
		if got, err := publicid.DecodeText("log", publicid.EncodeText("log", text)); err != nil || got != text {
			t.Fatalf("%q came back as %q, %v", text, got, err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	whole := publicid.Encode("key", uuid.New())
	for name, id := range map[string]string{
		"nothing":                "",
		"no prefix":              whole[len("key_"):],
		"another prefix":         "dash_" + whole[len("key_"):],
		"prefix in capitals":     "KEY_" + whole[len("key_"):],
		"prefix alone":           "key_",
		"one byte":               "key_2",
		"cut":                    whole[:len(whole)-1],
		"too many":               whole + "1",
		"zero, not in base58":    whole[:len(whole)-1] + "0",
		"capital O":              whole[:len(whole)-1] + "O",
		"capital I":              whole[:len(whole)-1] + "I",
		"small l":                whole[:len(whole)-1] + "l",
		"not ASCII":              whole[:len(whole)-1] + "é",
		"leading zero byte":      "key_1" + whole[len("key_"):],
		"text where a UUID must": publicid.EncodeText("key", "0123456789abcdef"),
		"too long":               "key_" + strings.Repeat("z", 100_000),
	} {
		if got, err := publicid.Decode("key", id); err == nil {
			t.Errorf("%s: %q was read as %v", name, id, got)
		}
	}
	if got, err := publicid.DecodeText("key", whole); err == nil {
		t.Errorf("a UUID was read as the text %q", got)
	}
	if got, err := publicid.DecodeText("log", publicid.EncodeText("log", "\xff")); err == nil {
		t.Errorf("invalid UTF-8 was read as %q", got)
	}
}

// FuzzDecode: whatever is accepted is the one spelling of its id, so ids can be compared as text.
func FuzzDecode(f *testing.F) {
	f.Add(publicid.Encode("key", uuid.Nil))
	f.Add(publicid.EncodeText("key", "x"))
	f.Add("key_1111")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := publicid.Decode("key", s); err == nil && publicid.Encode("key", id) != s {
			t.Fatalf("%q and %q are the same id", s, publicid.Encode("key", id))
		}
		if text, err := publicid.DecodeText("key", s); err == nil && publicid.EncodeText("key", text) != s {
			t.Fatalf("%q and %q are the same id", s, publicid.EncodeText("key", text))
		}
	})
}
