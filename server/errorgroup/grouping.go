package errorgroup

import "encoding/json"

// Grouping says why an error is in its group.
type Grouping struct {
	Version string  `json:"version"`
	Variant Variant `json:"variant"`
	// Types are the type of the error and those of its causes.
	Types []string `json:"types,omitempty"`
	// Frames are the keys of the calls that made the group, the innermost first.
	Frames []string `json:"frames,omitempty"`
	// Message is the normal message, if it is part of the group.
	Message string `json:"message,omitempty"`
	// Minified says that the calls did not count because a minifier gave them their names.
	Minified bool `json:"minified,omitempty"`
	LeftOut  Left `json:"left_out,omitzero"`
	// Cut says that only the start of the stack was read.
	Cut bool `json:"cut,omitempty"`
}

// Left counts the frames that are no part of the group, by reason.
type Left struct {
	// Library frames belong to the runtime or to libraries.
	Library int `json:"library,omitempty"`
	// Repeated frames have the key of a frame that counted.
	Repeated int `json:"repeated,omitempty"`
	// Outer frames lie beyond those that count.
	Outer int `json:"outer,omitempty"`
	// Other frames belong to another error of the chain of causes, or to another stack.
	Other int `json:"other,omitempty"`
}

// JSON returns the grouping as stored.
func (g Grouping) JSON() []byte {
	out, err := json.Marshal(g)
	if err != nil {
		// No field of a Grouping can fail.
		panic(err)
	}
	return out
}

// ParseGrouping reads the output of JSON.
func ParseGrouping(text []byte) (Grouping, error) {
	var g Grouping
	err := json.Unmarshal(text, &g)
	return g, err
}

// Explain returns the grouping of the last error, whose variant is given.
func (g *Grouper) Explain(variant Variant) Grouping { return g.grouping(variant) }

func (g *Grouper) grouping(variant Variant) Grouping {
	out := Grouping{
		Version: Version, Variant: variant, Types: append([]string(nil), g.types...), Message: string(g.normal), Minified: g.minified,
		LeftOut: Left{Library: g.left.library, Repeated: g.left.repeated, Outer: g.left.outer, Other: g.left.sections}, Cut: g.stack.Cut,
	}
	from := 0
	for _, end := range g.ends {
		out.Frames = append(out.Frames, string(g.keys[from:end]))
		from = end
	}
	return out
}
