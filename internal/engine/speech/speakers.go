package speech

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Servers write speakers in several ways: a field of each segment, of OpenAI and
// WhisperX ("SPEAKER_00", "A", or a number); a field of each word, of WhisperX; and marks in the text,
// of whisper.cpp: "(speaker 0)" before a segment with --diarize, "[SPEAKER_TURN]" where
// the voice changes with --tinydiarize.

// label is a speaker's name or number.
type label string

// UnmarshalJSON takes a text, a number or null.
func (l *label) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*l = label(text)
		return nil
	}
	var number json.Number
	if err := json.Unmarshal(b, &number); err != nil {
		return fmt.Errorf("speaker: %.40q is neither a name nor a number", b)
	}
	*l = label(number)
	return nil
}

// speakerOf is a segment's speaker, else the one who says most of its words.
func speakerOf(segment label, words []whisperWord) string {
	if segment != "" {
		return string(segment)
	}
	count := map[label]int{}
	best := label("")
	for _, w := range words {
		if w.Speaker == "" {
			continue
		}
		if count[w.Speaker]++; count[w.Speaker] > count[best] {
			best = w.Speaker
		}
	}
	return string(best)
}

const speakerTurn = "[SPEAKER_TURN]"

// parted reads whisper.cpp's marks of speakers, and takes them out of the text.
// [SPEAKER_TURN] says that the voice changes but not who speaks then, so each turn gets a name
// of its own.
func (t *Transcript) parted() {
	marked := strings.Contains(t.Text, speakerTurn)
	turn := 1
	var out []Segment
	for _, s := range t.Segments {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(s.Text), "(speaker "); ok {
			if who, text, ok := strings.Cut(rest, ")"); ok && len(who) < 4 {
				t.Text = strings.Replace(t.Text, "(speaker "+who+")", "", 1)
				s.Text = text
				if who != "?" && s.Speaker == "" {
					s.Speaker = who
				}
			}
		}
		if !marked {
			out = append(out, s)
			continue
		}
		parts := strings.Split(s.Text, speakerTurn)
		for i, part := range parts {
			if i > 0 {
				turn++
			}
			if strings.TrimSpace(part) == "" {
				continue
			}
			one := s
			one.Text = part
			if len(parts) > 1 && i > 0 {
				one.Words = nil // they are the first part's as far as anybody knows
			}
			if one.Speaker == "" {
				one.Speaker = fmt.Sprintf("turn %d", turn)
			}
			out = append(out, one)
		}
	}
	t.Segments = out
	t.Text = strings.ReplaceAll(t.Text, speakerTurn, "")
}
