package day

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/locket-dev/locket/internal/tzdata" // for machines without time zones
	"github.com/locket-dev/locket/memory"
)

// Line is one line of day.jsonl after the first. Kind determines which fields are set; all others
// are empty.
type Line struct {
	Number   int         `json:"-"`  // in the file, from 1; the first line is the day's header
	At       time.Time   `json:"at"` // with the offset of the day's zone
	Kind     memory.Kind `json:"kind"`
	Device   string      `json:"device"`
	Speaker  string      `json:"speaker,omitempty"`  // text
	Lang     string      `json:"lang,omitempty"`     // text
	Text     string      `json:"text,omitempty"`     // text
	File     string      `json:"file,omitempty"`     // photo, audio
	Name     string      `json:"name,omitempty"`     // location, sensor, button
	Lat      float64     `json:"lat,omitempty"`      // location: degrees north
	Lon      float64     `json:"lon,omitempty"`      // location: degrees east
	Accuracy float64     `json:"accuracy,omitempty"` // location: metres
	Values   []float64   `json:"values,omitempty"`   // sensor, button
	Unit     string      `json:"unit,omitempty"`     // sensor
	Missing  uint64      `json:"missing,omitempty"`  // gap: how many sequence numbers will not come
	Reason   string      `json:"reason,omitempty"`   // gap
}

// header is the first line of day.jsonl.
type header struct {
	Kind   string `json:"kind"` // day
	Date   string `json:"date"`
	Zone   string `json:"zone"`
	Wearer string `json:"wearer"`
}

func (d *Day) parse(b []byte) error {
	for i, raw := range bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) {
		n := i + 1
		if n == 1 {
			var h header
			if err := decodeStrict(raw, &h); err != nil || h.Kind != "day" {
				return fmt.Errorf("%w: %s:1: want {\"kind\":\"day\",…}, have %.60q: %v", ErrInvalid, LinesFile, raw, err)
			}
			d.Date, d.Zone, d.Wearer = h.Date, h.Zone, h.Wearer
			continue
		}
		l, err := parseLine(raw)
		if err != nil {
			return fmt.Errorf("%w: %s:%d: %w", ErrInvalid, LinesFile, n, err)
		}
		l.Number = n
		d.Lines = append(d.Lines, l)
	}
	return nil
}

func parseLine(raw []byte) (Line, error) {
	var l Line
	if err := decodeStrict(raw, &l); err != nil {
		return Line{}, err
	}
	return l, l.check()
}

// check reports the first rule that the line breaks, as far as it can be checked by itself.
func (l *Line) check() error {
	switch {
	case l.At.IsZero():
		return fmt.Errorf("at: missing")
	case l.Device == "" || len(l.Device) > memory.MaxName:
		return fmt.Errorf("device: want 1 to %d bytes", memory.MaxName)
	case len(l.Text) > memory.MaxText:
		return fmt.Errorf("text: %d bytes, at most %d", len(l.Text), memory.MaxText)
	case len(l.Speaker) > memory.MaxName || len(l.Name) > memory.MaxName:
		return fmt.Errorf("speaker, name: at most %d bytes", memory.MaxName)
	}
	// want has only the fields that its kind may have.
	want := Line{At: l.At, Kind: l.Kind, Device: l.Device}
	switch l.Kind {
	case memory.KindText:
		want.Speaker, want.Lang, want.Text = l.Speaker, l.Lang, l.Text
		if strings.TrimSpace(l.Text) == "" {
			return fmt.Errorf("text: empty")
		}
	case memory.KindPhoto, memory.KindAudio:
		want.File = l.File
		if !filepath.IsLocal(l.File) || strings.ContainsAny(l.File, `\:`) {
			return fmt.Errorf("file: %q is no path below the day's folder", l.File)
		}
	case memory.KindLocation:
		want.Name, want.Lat, want.Lon, want.Accuracy = l.Name, l.Lat, l.Lon, l.Accuracy
		if l.Lat < -90 || l.Lat > 90 || l.Lon < -180 || l.Lon > 180 || l.Accuracy < 0 {
			return fmt.Errorf("lat, lon: %v, %v is nowhere on earth", l.Lat, l.Lon)
		}
	case memory.KindSensor:
		want.Name, want.Values, want.Unit = l.Name, l.Values, l.Unit
		if l.Name == "" || len(l.Values) == 0 {
			return fmt.Errorf("sensor: name and values are needed")
		}
	case memory.KindButton:
		want.Name, want.Values = l.Name, l.Values
		if l.Name == "" {
			return fmt.Errorf("button: name is needed")
		}
	case memory.KindGap:
		want.Missing, want.Reason = l.Missing, l.Reason
		if l.Missing == 0 {
			return fmt.Errorf("gap: missing: at least 1")
		}
	default:
		return fmt.Errorf("kind: %q is not one of text, photo, audio, location, sensor, button, gap", l.Kind)
	}
	have, _ := json.Marshal(l)
	allowed, _ := json.Marshal(want)
	if !bytes.Equal(have, allowed) {
		return fmt.Errorf("a line of kind %s has a field that belongs to another kind", l.Kind)
	}
	return nil
}

// decodeStrict decodes one JSON value without fields unknown to v.
func decodeStrict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("byte %d: more than one value", dec.InputOffset())
	}
	return nil
}

// appendJSON appends v as one line, without escaping characters, so that a person can read the
// file.
func appendJSON(b []byte, v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(b, out.Bytes()...), nil
}
