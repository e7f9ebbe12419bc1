package judge

// Shown is a [Message] as a model is shown it, in JSON, so that no text can end it.
type Shown struct {
	N       int    `json:"n,omitempty"` // from 1; 0: the model is not asked about it
	At      string `json:"at"`          // weekday and time by the speaker's clock
	Speaker string `json:"speaker,omitempty"`
	Text    string `json:"text"`
}

// Show returns messages as a model is shown them. If numbered is set, they are the ones that the
// model is asked about, and have numbers.
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
