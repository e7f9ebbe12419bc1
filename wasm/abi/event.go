package abi

// Keys of an Event's map; docs/wasm.md has the table.
const (
	eventVersion = iota
	eventID
	eventKind
	eventAt
	eventZone
	eventLang
	eventSpeaker
	eventWearer
	eventText
	eventPCM
	eventRate
	eventLast
	eventWidth
	eventHeight
	eventGray
	eventRGB
	eventName
	eventValues
	eventBefore
	eventState
	eventOffset
	eventMemories
)

// Keys of a Turn's map.
const (
	turnID = iota + 1
	turnAt
	turnSpeaker
	turnText
)

// Keys of a Memory's map.
const (
	memoryID = iota + 1
	memoryType
	memoryAt
	memoryText
)

// AppendEvent appends e in CBOR. It checks nothing: the host knows what it sends, and checks the
// length.
func AppendEvent(dst []byte, e *Event) []byte {
	w := encoder{b: dst}
	m := w.open()
	w.int(eventVersion, Version)
	w.str(eventID, e.ID)
	w.str(eventKind, e.Kind)
	w.int(eventAt, e.At)
	w.str(eventZone, e.Zone)
	w.str(eventLang, e.Lang)
	w.str(eventSpeaker, e.Speaker)
	w.str(eventWearer, e.Wearer)
	w.str(eventText, e.Text)
	w.bytes(eventPCM, e.PCM)
	w.int(eventRate, int64(e.Rate))
	w.bool(eventLast, e.Last)
	w.int(eventWidth, int64(e.Width))
	w.int(eventHeight, int64(e.Height))
	w.bytes(eventGray, e.Gray)
	w.bytes(eventRGB, e.RGB)
	w.str(eventName, e.Name)
	if w.list(eventValues, len(e.Values)) {
		for _, v := range e.Values {
			w.real(v)
		}
	}
	if w.list(eventBefore, len(e.Before)) {
		for i := range e.Before {
			t := &e.Before[i]
			m := w.open()
			w.str(turnID, t.ID)
			w.int(turnAt, t.At)
			w.str(turnSpeaker, t.Speaker)
			w.str(turnText, t.Text)
			w.close(m)
		}
	}
	w.bytes(eventState, e.State)
	w.int(eventOffset, int64(e.Offset))
	if w.list(eventMemories, len(e.Memories)) {
		for i := range e.Memories {
			k := &e.Memories[i]
			m := w.open()
			w.str(memoryID, k.ID)
			w.str(memoryType, k.Type)
			w.int(memoryAt, k.At)
			w.str(memoryText, k.Text)
			w.close(m)
		}
	}
	w.close(m)
	return w.b
}

// DecodeEvent reads what AppendEvent wrote. The strings and byte slices of e point into b.
// Unknown keys are ignored, so that a later host can send more. Slices that e has are
// reused.
func DecodeEvent(b []byte, e *Event) error {
	d := decoder{b: b, alias: true}
	d.push("event")
	if len(b) > MaxInput {
		return d.fail(CodeLimit)
	}
	*e = Event{Values: e.Values[:0], Before: e.Before[:0], Memories: e.Memories[:0]}
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case eventVersion:
			if d.int() != Version {
				d.fail(CodeVersion)
			}
		case eventID:
			e.ID = d.text("id")
		case eventKind:
			e.Kind = d.text("kind")
		case eventAt:
			e.At = d.number("at")
		case eventZone:
			e.Zone = d.text("zone")
		case eventLang:
			e.Lang = d.text("lang")
		case eventSpeaker:
			e.Speaker = d.text("speaker")
		case eventWearer:
			e.Wearer = d.text("wearer")
		case eventText:
			e.Text = d.text("text")
		case eventPCM:
			e.PCM = d.blob("pcm", MaxInput)
		case eventRate:
			e.Rate = d.size("rate")
		case eventLast:
			e.Last = d.flag("last")
		case eventWidth:
			e.Width = d.size("width")
		case eventHeight:
			e.Height = d.size("height")
		case eventGray:
			e.Gray = d.blob("gray", MaxInput)
		case eventRGB:
			e.RGB = d.blob("rgb", MaxInput)
		case eventName:
			e.Name = d.text("name")
		case eventValues:
			n := d.open("values", MaxValues)
			e.Values = room(e.Values, n)
			for i := 0; i < n && d.at(i); i++ {
				e.Values = append(e.Values, d.float())
			}
			d.pop()
		case eventBefore:
			n := d.open("before", MaxBefore)
			e.Before = room(e.Before, n)
			for i := 0; i < n && d.at(i); i++ {
				e.Before = append(e.Before, Turn{})
				decodeTurn(&d, &e.Before[i])
			}
			d.pop()
		case eventState:
			e.State = d.blob("state", MaxState)
		case eventOffset:
			e.Offset = int(d.number("offset"))
		case eventMemories:
			n := d.open("memories", MaxMemories)
			e.Memories = room(e.Memories, n)
			for i := 0; i < n && d.at(i); i++ {
				e.Memories = append(e.Memories, Memory{})
				decodeMemory(&d, &e.Memories[i])
			}
			d.pop()
		default:
			if d.err == nil {
				d.skip(1)
			}
		}
	}
	if d.err == nil && seen&1 == 0 {
		d.fail(CodeVersion)
	}
	return d.end()
}

func decodeTurn(d *decoder, t *Turn) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case turnID:
			t.ID = d.text("id")
		case turnAt:
			t.At = d.number("at")
		case turnSpeaker:
			t.Speaker = d.text("speaker")
		case turnText:
			t.Text = d.text("text")
		default:
			if d.err == nil {
				d.skip(3)
			}
		}
	}
}

func decodeMemory(d *decoder, m *Memory) {
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case memoryID:
			m.ID = d.text("id")
		case memoryType:
			m.Type = d.text("type")
		case memoryAt:
			m.At = d.number("at")
		case memoryText:
			m.Text = d.text("text")
		default:
			if d.err == nil {
				d.skip(3)
			}
		}
	}
}
