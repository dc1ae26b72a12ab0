package demo

import "time"

// A recording in the format of rrweb: a full snapshot of each page, and the events on it. A player can play it.

// recorded is an rrweb event.
type recorded struct {
	Type      int   `json:"type"`
	Data      any   `json:"data"`
	Timestamp int64 `json:"timestamp"`
}

// Event types, and the sources of incremental events.
const (
	eventFullSnapshot = 2
	eventIncremental  = 3
	eventMeta         = 4

	sourceMutation    = 0
	sourceMouseMove   = 1
	sourceInteraction = 2
	sourceScroll      = 3
	sourceInput       = 5
)

type object map[string]any

// tape records one session.
type tape struct {
	events     []recorded
	checkpoint bool
	// Ids of the nodes on the current page that events refer to.
	root, button, field, notice int
	next                        int
	last                        int64
}

// add records an event. Its time is not before that of the previous event, because the three parts of a click take longer than
// some answers.
func (t *tape) add(at int64, kind int, data any) {
	t.last = max(t.last, at/int64(time.Millisecond))
	t.events = append(t.events, recorded{kind, data, t.last})
}

// cut removes and returns the recorded events. A checkpoint begins with a full snapshot.
func (t *tape) cut() (events []recorded, checkpoint bool) {
	events, checkpoint = t.events, t.checkpoint
	t.events, t.checkpoint = nil, false
	return events, checkpoint
}

func (t *tape) element(tag string, attributes object, children ...object) object {
	t.next++
	if attributes == nil {
		attributes = object{}
	}
	if children == nil {
		children = []object{}
	}
	return object{"type": 2, "tagName": tag, "attributes": attributes, "childNodes": children, "id": t.next}
}

func (t *tape) text(content string) object {
	t.next++
	return object{"type": 3, "textContent": content, "id": t.next}
}

const style = `body{font-family:sans-serif;margin:0;color:#222}header{background:#173f35;color:#fff;padding:16px 24px;font-size:20px}` +
	`main{padding:24px;max-width:800px}button{background:#173f35;color:#fff;border:0;padding:10px 18px;border-radius:4px}` +
	`input{padding:8px;border:1px solid #999;margin:8px 0;display:block}.card{display:inline-block;width:160px;height:120px;background:#eef3f1;margin:8px;padding:8px}`

// page opens a new page and records a full snapshot.
func (t *tape) page(at int64, href, title string) {
	*t = tape{events: t.events, checkpoint: len(t.events) == 0, last: t.last}
	head := t.element("head", nil, t.element("title", nil, t.text(title)), t.element("style", nil, t.styleText()))
	header := t.element("header", nil, t.text("The Shop"))
	heading := t.element("h1", nil, t.text(title))
	field := t.element("input", object{"type": "text", "placeholder": "…"})
	t.field = t.next
	button := t.element("button", nil, t.text("Continue"))
	t.button = button["id"].(int)
	notice := t.text(" ")
	t.notice = t.next
	cards := make([]object, 0, 6)
	for _, name := range []string{"Moka Pot", "Trail Tent", "Desk Lamp", "Wool Blanket", "Enamel Mug", "Rain Jacket"} {
		cards = append(cards, t.element("div", object{"class": "card"}, t.text(name)))
	}
	main := t.element("main", nil, heading, field, button, t.element("p", nil, notice), t.element("section", nil, cards...))
	html := t.element("html", object{"lang": "en"}, head, t.element("body", nil, header, main))
	t.next++
	doctype := object{"type": 1, "name": "html", "publicId": "", "systemId": "", "id": t.next}
	t.next++
	t.root = t.next
	document := object{"type": 0, "childNodes": []object{doctype, html}, "id": t.root}
	t.add(at, eventMeta, object{"href": href, "width": 1280, "height": 720})
	t.add(at, eventFullSnapshot, object{"node": document, "initialOffset": object{"top": 0, "left": 0}})
}

func (t *tape) styleText() object {
	n := t.text(style)
	n["isStyle"] = true
	return n
}

// look moves the pointer over the page and scrolls.
func (t *tape) look(r random, at int64) {
	var positions []object
	for i := range 8 {
		positions = append(positions, object{"x": 80 + r.IntN(30) + i*60, "y": 120 + r.IntN(40) + i*18, "id": t.root, "timeOffset": (i - 8) * 50})
	}
	at += int64(600 * time.Millisecond)
	t.add(at, eventIncremental, object{"source": sourceMouseMove, "positions": positions})
	t.add(at+int64(400*time.Millisecond), eventIncremental, object{"source": sourceScroll, "id": t.root, "x": 0, "y": 40 + r.IntN(200)})
}

func (t *tape) click(at int64) {
	// Types of interaction: 1 pressed, 0 released, 2 clicked.
	for i, kind := range []int{1, 0, 2} {
		t.add(at+int64(i)*int64(30*time.Millisecond), eventIncremental, object{
			"source": sourceInteraction, "type": kind, "id": t.button, "x": 60, "y": 190,
		})
	}
}

// input types text into the field. The typed text is masked.
func (t *tape) input(at int64, length int) {
	masked := ""
	for i := range length {
		masked += "*"
		t.add(at+int64(i)*int64(120*time.Millisecond), eventIncremental, object{
			"source": sourceInput, "text": masked, "isChecked": false, "id": t.field,
		})
	}
}

// say changes the notice on the page.
func (t *tape) say(at int64, message string) {
	t.add(at, eventIncremental, object{
		"source": sourceMutation, "texts": []object{{"id": t.notice, "value": message}}, "attributes": []object{}, "removes": []object{},
		"adds": []object{},
	})
}
