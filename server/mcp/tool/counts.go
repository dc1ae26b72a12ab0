package tool

type NameCount struct {
	Name  string  `json:"name"`
	Count float64 `json:"count"`
}
