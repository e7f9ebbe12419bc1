package omi

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

func unhexAll(t *testing.T, list []string) (out [][]byte) {
	t.Helper()
	for _, s := range list {
		out = append(out, unhex(t, s))
	}
	return out
}

// A photo of OmiGlass, with newer and older firmware, is read as it was taken.
func TestPhotoVectors(t *testing.T) {
	want, err := os.ReadFile("testdata/photo.jpg")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Orientation int
		Packets     []string
	}
	vectors(t, "photo-notifications.json", &v)
	var p Photos
	out := push(&p, unhexAll(t, v.Packets))
	if len(out) != 1 {
		t.Fatalf("%d items", len(out))
	}
	if got, ok := out[0].(Photo); !ok || !bytes.Equal(got.JPEG, want) || got.Orientation != 90*v.Orientation {
		t.Errorf("%T, turned by %d", out[0], got.Orientation)
	}
	// The file has the first three parts of the older firmware's photo, and then the last two.
	vectors(t, "photo-notifications-old.json", &v)
	list := unhexAll(t, v.Packets)
	p = Photos{}
	if out := push(&p, list[:3]); len(out) != 0 || !bytes.Equal(p.jpeg, want[:600]) || p.orientation != oldRotation {
		t.Errorf("%d items, %d bytes, turned by %d", len(out), len(p.jpeg), p.orientation)
	}
	if out := push(&p, list[3:]); len(out) != 1 || out[0] != (LostPhoto{"part 126 came after part 2", 600}) {
		t.Errorf("%+v", out)
	}
}

// Ids of notifications are judged as in Omi's app.
func TestContinuity(t *testing.T) {
	var v struct {
		Sequences []struct {
			Name    string
			In, Out []string
			Missing []int
		}
	}
	vectors(t, "continuity.json", &v)
	for _, c := range v.Sequences {
		var a Audio
		for i, s := range c.In {
			doubles := a.Doubles
			seen := a.seen
			is, missing := "contiguous", 0
			if !seen {
				is = "first"
			}
			for _, item := range a.Push(unhex(t, s)) {
				switch item := item.(type) {
				case Gap:
					is, missing = "gap", item.Count
				case Reset:
					is = "reset"
				case Damaged:
					if len(unhex(t, s)) < audioHeader {
						is = "malformed"
					}
				}
			}
			if a.Doubles > doubles {
				is = "duplicate"
			}
			if is != c.Out[i] || c.Missing != nil && missing != c.Missing[i] {
				t.Errorf("%s, %d: %s with %d missing, want %s", c.Name, i, is, missing, c.Out[i])
			}
		}
	}
}

// Frames in a record, and the storage's report of its contents.
func TestStorageVectors(t *testing.T) {
	var v struct {
		Status []struct {
			Hex, Error         string
			Used, Unread, Free uint32
			Clock              bool `json:"rtc_valid"`
		}
		Payloads []struct {
			Name, Hex string
			Frames    []string
		}
		Record struct {
			Hex    string
			Frames []string
		}
	}
	vectors(t, "ring.json", &v)
	for _, c := range v.Status {
		got, err := ParseStorage(unhex(t, c.Hex))
		if (err != nil) != (c.Error != "") || err == nil && (got.Used != c.Used || got.Unread != c.Unread || got.Free != c.Free || got.ClockValid != c.Clock) {
			t.Errorf("%s: %+v, %v", c.Hex, got, err)
		}
	}
	for _, c := range v.Payloads {
		if got := cutFrames(unhex(t, c.Hex)); !slices.EqualFunc(got, unhexAll(t, c.Frames), bytes.Equal) {
			t.Errorf("%s: %d frames, want %d", c.Name, len(got), len(c.Frames))
		}
	}
	r, err := ParseRecord(unhex(t, v.Record.Hex))
	if err != nil || !slices.EqualFunc(r.Frames, unhexAll(t, v.Record.Frames), bytes.Equal) {
		t.Errorf("%+v, %v", r, err)
	}
}
