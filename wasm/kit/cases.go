package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// Case is an author's event, with the expected result.
type Case struct {
	Name  string // file name without .json
	Event abi.Event
	// Want are the expected candidates, in their order; nil: any result is right, empty: none are
	// expected.
	Want []Want
}

// Want describes one candidate: empty fields are not compared.
type Want struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Kind        string `json:"kind"`
	Sensitivity string `json:"sensitivity"`
}

// caseFile is a case in JSON; the names are those of docs/wasm.md.
type caseFile struct {
	Event caseEvent `json:"event"`
	Want  []Want    `json:"want"`
}

type caseEvent struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`
	At      int64      `json:"at"`
	Zone    string     `json:"zone"`
	Offset  int        `json:"offset"`
	Lang    string     `json:"lang"`
	Speaker string     `json:"speaker"`
	Wearer  string     `json:"wearer"`
	Text    string     `json:"text"`
	PCM     []byte     `json:"pcm"`
	Rate    int        `json:"rate"`
	Last    bool       `json:"last"`
	Width   int        `json:"width"`
	Height  int        `json:"height"`
	Gray    []byte     `json:"gray"`
	RGB     []byte     `json:"rgb"`
	Name    string     `json:"name"`
	Values  []float64  `json:"values"`
	Before  []abi.Turn `json:"before"`
	State   []byte     `json:"state"`
}

// ReadCases reads every *.json of a folder, in the order of their names; without the folder there
// are no cases. Bytes (pcm, gray, rgb, state) are in base64.
func ReadCases(dir string) ([]Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("reading cases: %w", err)
	}
	if _, err := os.Stat(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading cases: %w", err)
	}
	slices.Sort(files)
	var list []Case
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("reading cases: %w", err)
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		var c caseFile
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		if d.More() {
			return nil, fmt.Errorf("%s: something comes after the case", f)
		}
		if c.Event.Kind == "" {
			return nil, fmt.Errorf("%s: event.kind is missing: text, photo, …", f)
		}
		list = append(list, Case{Name: strings.TrimSuffix(filepath.Base(f), ".json"), Event: c.Event.event(), Want: c.Want})
	}
	return list, nil
}

// event fills in what most cases leave out.
func (e *caseEvent) event() abi.Event {
	v := base(e.Kind)
	if e.At != 0 {
		v.At, v.Offset = e.At, e.Offset
	}
	def := func(to *string, s string) {
		if s != "" {
			*to = s
		}
	}
	def(&v.ID, e.ID)
	def(&v.Zone, e.Zone)
	def(&v.Lang, e.Lang)
	def(&v.Wearer, e.Wearer)
	v.Speaker, v.Text, v.Name = e.Speaker, e.Text, e.Name
	v.PCM, v.Rate, v.Last = e.PCM, e.Rate, e.Last
	v.Width, v.Height, v.Gray, v.RGB = e.Width, e.Height, e.Gray, e.RGB
	v.Values, v.Before, v.State = e.Values, e.Before, e.State
	return v
}

// compare describes how an answer differs from the expected one, or returns nothing.
func (c *Case) compare(out *abi.Output) string {
	if c.Want == nil {
		return ""
	}
	got := []string{}
	for i := range out.Candidates {
		got = append(got, fmt.Sprintf("%s %q", out.Candidates[i].Type, out.Candidates[i].Text))
	}
	if len(got) != len(c.Want) {
		return fmt.Sprintf("%d candidates, want %d: %s", len(got), len(c.Want), orNothing(got))
	}
	for i, w := range c.Want {
		g := &out.Candidates[i]
		for _, f := range []struct{ name, got, want string }{
			{"type", g.Type, w.Type}, {"text", g.Text, w.Text}, {"kind", g.Kind, w.Kind}, {"sensitivity", g.Sensitivity, w.Sensitivity},
		} {
			if f.want != "" && f.got != f.want {
				return fmt.Sprintf("candidate %d: %s is %q, want %q", i+1, f.name, f.got, f.want)
			}
		}
	}
	return ""
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}
