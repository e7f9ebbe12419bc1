package speech

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Servers report speakers in several ways: as a field of each segment (OpenAI and WhisperX:
// "SPEAKER_00", "A", or a number), as a field of each word (WhisperX), and as marks in the text
// (whisper.cpp): "(speaker 0)" before a segment with --diarize, "[SPEAKER_TURN]" where the voice
// changes with --tinydiarize.

// label is a speaker's name or number.
type label string

// UnmarshalJSON accepts a text, a number or null.
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

// speakerOf returns a segment's speaker, or else the one who says most of its words.
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

// parted reads whisper.cpp's marks of speakers, and removes them from the text. [SPEAKER_TURN] says
// that the voice changes but not who speaks then, so each turn gets a name of its own.
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
				one.Words = nil // as far as is known, they belong to the first part
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
