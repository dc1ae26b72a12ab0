package otlp

import (
	"strconv"
	"strings"
)

// check reads a whole request and names the first malformed place. It returns nil when proto.Unmarshal would accept the body.
func check(signal Signal, body []byte) error {
	if err := checkMessage(signal.message(), body, maxDepth); err != nil {
		return err
	}
	return nil
}

// checkMessage checks one message. The depth is the number of message levels that may still be opened, including this one.
func checkMessage(m message, b []byte, depth int) *Error {
	if depth--; depth < 0 {
		return &Error{Reason: "messages are nested more than " + strconv.Itoa(maxDepth) + " deep"}
	}
	fields := schema[m]
	var counts [32]int
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return &Error{Reason: "malformed or truncated field tag"}
		}
		f := findField(fields, tag>>3)
		wire := tag & 7
		if f == nil || (wire != f.kind.wire() && !(f.repeated && wire == wireBytes)) {
			if i = skip(b, next, tag); i < 0 {
				return &Error{Reason: "malformed or truncated value of field number " + strconv.FormatUint(tag>>3, 10)}
			}
			continue
		}
		var err *Error
		if i, err = checkValue(f, wire, b, next, depth); err != nil {
			name := f.name
			if f.repeated {
				name += "[" + strconv.Itoa(counts[f.number&31]) + "]"
			}
			err.prepend(name)
			return err
		}
		counts[f.number&31]++
	}
	return nil
}

func findField(fields []field, number uint64) *field {
	for i := range fields {
		if uint64(fields[i].number) == number {
			return &fields[i]
		}
	}
	return nil
}

func checkValue(f *field, wire uint64, b []byte, i, depth int) (int, *Error) {
	if wire == wireBytes {
		value, next := chunk(b, i)
		if next < 0 {
			return 0, &Error{Reason: "is longer than the message that holds it"}
		}
		switch f.kind {
		case kindMessage:
			return next, checkMessage(f.of, value, depth)
		case kindString:
			if !validText(value) {
				return 0, &Error{Reason: "is not valid UTF-8"}
			}
		case kindBytes, kindID:
		default:
			return next, checkPacked(f.kind, value)
		}
		return next, nil
	}
	next := skipValue(b, i, wire, maxDepth)
	if next < 0 {
		return 0, &Error{Reason: "malformed or truncated number"}
	}
	return next, nil
}

func checkPacked(k kind, b []byte) *Error {
	for i := 0; i < len(b); {
		if i = skipValue(b, i, k.wire(), maxDepth); i < 0 {
			return &Error{Reason: "malformed or truncated packed numbers"}
		}
	}
	return nil
}

// maxPath bounds a path in bytes. Messages may be nested ten thousand levels deep, so the inner end of a longer path is cut.
const maxPath = 500

// prepend puts the name of the enclosing field before the path.
func (e *Error) prepend(name string) {
	switch {
	case e.Path == "":
		e.Path = name
	case e.Path[0] == '[':
		e.Path = name + e.Path
	default:
		e.Path = name + "." + e.Path
	}
	if len(e.Path) > maxPath+len("…") {
		e.Path = strings.ToValidUTF8(e.Path[:maxPath], "") + "…"
	}
}
