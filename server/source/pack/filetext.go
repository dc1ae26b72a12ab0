package pack

import "bytes"

// hit is a line that matches a term. All numbers are places in the text of the file.
type hit struct {
	start, end int // the line, without its end
	from, to   int // the first match in it
	terms      uint32
}

// fileText is the text of one file, as terms need it.
type fileText struct {
	text []byte
	// folded is the text in lower case, made when a term needs it.
	folded       []byte
	foldsBeyond7 bool
	buffer       *[]byte
	// long counts lines of which an expression saw only a part.
	long int
}

func (f *fileText) lower() []byte {
	if f.folded == nil {
		if cap(*f.buffer) < len(f.text) {
			*f.buffer = make([]byte, len(f.text)+len(f.text)/4)
		}
		f.folded = (*f.buffer)[:len(f.text)]
		lowerASCII(f.folded, f.text)
	}
	return f.folded
}

// line returns the bounds of the line around a place, and where the next line begins.
func (f *fileText) line(at int) (start, end, next int) {
	start = bytes.LastIndexByte(f.text[:at], '\n') + 1
	end, next = f.endOfLine(at)
	return start, max(start, end), next
}

func (f *fileText) endOfLine(at int) (end, next int) {
	end = len(f.text)
	if n := bytes.IndexByte(f.text[at:], '\n'); n >= 0 {
		end = at + n
	}
	next = end + 1
	if end > at && f.text[end-1] == '\r' {
		end--
	}
	return end, next
}
