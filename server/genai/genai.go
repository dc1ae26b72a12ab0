// Package genai reads the semantic conventions of OpenTelemetry for generative AI: the operations of spans and their messages.
package genai

// These are values of the attribute `gen_ai.operation.name`.
const (
	OperationTurn = "invoke_agent"
	OperationTool = "execute_tool"
)

// ModelCall reports whether an operation calls a model.
func ModelCall(operation string) bool {
	return operation == "chat" || operation == "generate_content" || operation == "text_completion"
}

// Asked returns the first message of a user, or an empty text if there is none.
func Asked(raw string) string {
	for _, m := range Messages(raw) {
		if m.Role == "user" && m.Text != "" {
			return m.Text
		}
	}
	return ""
}
