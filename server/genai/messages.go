package genai

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Message is one message to or from a model.
type Message struct{ Role, Text string }

// Messages reads the messages of a model call: the JSON of the semantic conventions, the events of older conventions, or any
// other text unchanged.
func Messages(raw string) []Message {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil
	}
	var list []struct {
		Role    string
		Content any
		Parts   []struct {
			Type      string
			Content   any
			Name      string
			Arguments any
			Response  any
			Result    any
		}
	}
	if strings.HasPrefix(raw, "[") && json.Unmarshal([]byte(raw), &list) == nil {
		var out []Message
		for _, m := range list {
			parts := []string{plain(m.Content)}
			for _, p := range m.Parts {
				switch p.Type {
				case "tool_call":
					parts = append(parts, "→ "+p.Name+" "+plain(p.Arguments))
				case "tool_call_response":
					parts = append(parts, "← "+cmp.Or(plain(p.Response), plain(p.Result)))
				default:
					parts = append(parts, plain(p.Content))
				}
			}
			out = append(out, Message{strings.ToLower(m.Role), strings.TrimSpace(strings.Join(parts, "\n"))})
		}
		return out
	}
	var out []Message
	for _, line := range strings.Split(raw, "\n") {
		name, text, ok := strings.Cut(line, ": ")
		role := map[string]string{
			"gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.tool.message": "tool",
			"gen_ai.assistant.message": "assistant", "gen_ai.choice": "assistant",
		}[name]
		switch {
		case ok && role != "":
			out = append(out, Message{role, text})
		case len(out) > 0:
			out[len(out)-1].Text += "\n" + line
		default:
			out = append(out, Message{"", line})
		}
	}
	return out
}

// plain converts a value in a message to text.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(raw)
	}
}
