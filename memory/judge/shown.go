package judge

// Shown is a [Message] as a model is shown it, in JSON, of which no text can be
// the end.
type Shown struct {
	N       int    `json:"n,omitempty"` // from 1; 0: it is not asked about
	At      string `json:"at"`          // the weekday and the time on the speaker's clock
	Speaker string `json:"speaker,omitempty"`
	Text    string `json:"text"`
}

// Show returns messages as a model is shown them. Those that it is asked about
// are numbered.
func Show(ms []Message, numbered bool) []Shown {
	var out []Shown
	for i, m := range ms {
		s := Shown{At: m.At.In(m.Zone).Format("Mon 2006-01-02T15:04"), Speaker: m.Speaker, Text: m.Text}
		if numbered {
			s.N = i + 1
		}
		out = append(out, s)
	}
	return out
}
