package sight

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
)

// MaxFrames is how many photos a model is shown at once, as in MIRIX.
const MaxFrames = 20

// Series are photos that a model sees together. It keeps a small picture of each, and not its file.
// Photos that look like an earlier one are not shown. The zero value is empty.
type Series struct {
	looks    []*Look // of all different photos that were added, including those that were seen before
	pictures []llm.Picture
	times    []time.Time // times of the pictures
}

// Add takes a photo. It reports whether it will be shown, which it is not if it looks like an
// earlier one. The error is an *engine.Fault, and then the photo is left out.
func (s *Series) Add(f Frame) (shown bool, err error) {
	m, err := opened("vision", f.Photo)
	if err != nil {
		return false, err
	}
	look := lookOf(turned(grey(m), f.Hints.Turn))
	if slices.ContainsFunc(s.looks, look.alike) {
		return false, nil
	}
	p, err := small(m, f.Hints.Turn, sideAmong)
	if err != nil {
		return false, err
	}
	s.looks, s.pictures, s.times = append(s.looks, look), append(s.pictures, p), append(s.times, f.At)
	return true, nil
}

// Waiting returns how many photos wait to be seen.
func (s *Series) Waiting() int { return len(s.pictures) }

// Seen is the model's answer about a series.
type Seen struct {
	Summary  string
	Captions []string    // of each photo that was shown; empty if there is nothing new in it
	Times    []time.Time // of each caption
}

// Text returns the summary, and a line for each caption with the time of day in UTC.
func (s *Seen) Text() string {
	text := s.Summary
	for i, c := range s.Captions {
		if c != "" {
			text += "\n" + s.Times[i].UTC().Format(time.TimeOnly) + " " + c
		}
	}
	return text
}

var sequence = &llm.Schema{Name: "sequence", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["summary","frames"],"properties":{` +
	`"summary":{"type":"string"},"frames":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["n","caption"],"properties":{` +
	`"n":{"type":"integer"},"caption":{"type":"string"}}}}}}`)}

// Watch shows the first waiting photos to the model, up to [MaxFrames] at once. They are then no
// longer waiting, whatever the result is. An error is an *engine.Fault or an *llm.Fault, that of m
// or of ctx.
func (s *Series) Watch(ctx context.Context, m cost.Model) (seen Seen, err error) {
	type frame struct {
		N  int    `json:"n"`
		At string `json:"at"`
	}
	var data struct {
		Frames []frame `json:"frames"`
	}
	n := min(len(s.pictures), MaxFrames)
	if n == 0 {
		return seen, engine.Faultf(m.Name(), engine.Refused, "there is no photo to see")
	}
	pictures, times := s.pictures[:n], s.times[:n]
	s.pictures, s.times = s.pictures[n:], s.times[n:]
	for i, at := range times {
		data.Frames = append(data.Frames, frame{i + 1, at.Format(time.RFC3339)})
	}
	_, err = m.AskJSON(ctx, llm.Request{System: prompts.Text(prompts.Sequence), Messages: llm.FromUser(llm.JSON(data), pictures...), Schema: sequence}, func(raw []byte) error {
		var answer struct {
			Summary string `json:"summary"`
			Frames  []struct {
				N       int    `json:"n"`
				Caption string `json:"caption"`
			} `json:"frames"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return err
		}
		seen = Seen{Summary: strings.Join(strings.Fields(answer.Summary), " "), Captions: make([]string, n), Times: times}
		if seen.Summary == "" || len(seen.Summary) > maxOutline {
			return fmt.Errorf("summary of %d bytes: want 1 to %d", len(seen.Summary), maxOutline)
		}
		for i, f := range answer.Frames {
			c := strings.Join(strings.Fields(f.Caption), " ")
			if f.N < 1 || f.N > n || len(c) > MaxCaption {
				return fmt.Errorf("frames[%d]: number %d of %d, a caption of %d bytes: want at most %d", i, f.N, n, len(c), MaxCaption)
			}
			seen.Captions[f.N-1] = c
		}
		return nil
	})
	return seen, err
}
