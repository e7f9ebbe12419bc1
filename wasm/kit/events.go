package kit

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

// named is an event with its name in a report.
type named struct {
	name  string
	event abi.Event
}

// noon is a Tuesday, 2025-11-18 12:00 in Berlin.
const noon = 1763463600000

// base is what all events share.
func base(kind string) abi.Event {
	return abi.Event{ID: "kit/1/1", Kind: kind, At: noon, Zone: "Europe/Berlin", Offset: 3600, Lang: "en", Wearer: "Ana"}
}

var lines = []string{
	"Remember that the boiler needs service in March.",
	"I parked on level 3, row B.",
	"Tom's number is 555 0134.",
	"My name is Ana, I live in Lisbon and I like oolong.",
	"I lent my drill to Tom on Friday.",
	"We meet Dr. Weber at half past nine next Tuesday.",
	"请记住我的护照在书桌的抽屉里。", "我搬到了里斯本。",
	"Ça va très bien, merci — à demain! 🦊", "मैं कल आऊँगा।", "e\u0301 is not é", "a\u200db\ufeffc",
	"a", " ", "\n", "....", "\x00\x01", strings.Repeat("word ", 200), strings.Repeat("x", 4000),
}

// goodEvents returns events as a host sends them, of each kind that m accepts.
func goodEvents(m *wasm.Manifest) []named {
	var out []named
	add := func(name string, e abi.Event) {
		if m.Takes(e.Kind) {
			out = append(out, named{name, e})
		}
	}
	before := []abi.Turn{{ID: "kit/1/0", At: noon - 4000, Speaker: "Tom", Text: "Where did you park?"}, {ID: "x", At: noon - 9000, Text: "我在这里"}}
	for i, l := range lines {
		e := base("text")
		e.ID, e.Text, e.Speaker = "kit/1/"+string(rune('a'+i)), l, "Ana"
		if i%2 == 1 {
			e.Before = before
		}
		add("text "+quoted(l), e)
	}
	u := base("utterance")
	u.Text, u.PCM, u.Rate, u.Before = lines[0], tone(1), 16000, before
	add("utterance", u)
	u.Text = ""
	add("utterance without words", u)
	a := base("audio")
	a.PCM, a.Rate = tone(1), 16000
	add("audio, one second", a)
	a.PCM, a.Last = tone(0.05), true
	add("audio, the last of it", a)
	add("photo", photo(640, 480))
	add("photo, upright", photo(360, 480))
	l := base("location")
	l.Values = []float64{38.7223, -9.1393, 12}
	add("location", l)
	s := base("sensor")
	s.Name, s.Values = "imu", []float64{0.01, -9.81, 0.5, 1e-9, 65535}
	add("sensor", s)
	b := base("button")
	b.Name, b.Values = "main", []float64{1}
	add("button", b)
	return out
}

// tone makes that many seconds of a rising tone with noise.
func tone(seconds float64) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	pcm := make([]byte, 2*int(seconds*16000))
	for i := range len(pcm) / 2 {
		t := float64(i) / 16000
		v := 8000*math.Sin(2*math.Pi*(200+300*t)*t) + 500*rng.NormFloat64()
		binary.LittleEndian.PutUint16(pcm[2*i:], uint16(int16(v)))
	}
	return pcm
}

// photo makes a picture of stripes and noise.
func photo(w, h int) abi.Event {
	e := base("photo")
	rng := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	e.Width, e.Height, e.Gray, e.RGB = w, h, make([]byte, w*h), make([]byte, 3*w*h)
	for i := range e.Gray {
		e.Gray[i] = byte(i%w/8*16) + byte(rng.IntN(8))
		for c := range 3 {
			e.RGB[3*i+c] = e.Gray[i] ^ byte(40*c)
		}
	}
	return e
}

// emptyEvents returns events with little more than their kind.
func emptyEvents(m *wasm.Manifest) []named {
	var out []named
	for _, k := range m.Kinds {
		out = append(out, named{"empty " + k, abi.Event{Kind: k}})
	}
	odd := []named{{"photo of one pixel", photo(1, 1)}, {"photo of one line", photo(640, 1)}, {"audio, one sample", base("audio")}, {"utterance, one sample", base("utterance")}}
	odd[2].event.PCM, odd[2].event.Rate, odd[3].event.PCM, odd[3].event.Rate = []byte{0, 1}, 16000, []byte{0, 1}, 16000
	for _, e := range odd {
		if m.Takes(e.event.Kind) {
			out = append(out, e)
		}
	}
	return out
}

// largestEvents returns the largest events that a host sends.
func largestEvents(m *wasm.Manifest) []named {
	var out []named
	add := func(name string, e abi.Event) {
		if m.Takes(e.Kind) {
			out = append(out, named{name, e})
		}
	}
	prose := strings.Join(lines[:6], " ") + " "
	texts := []named{
		{"prose of 64 KiB", abi.Event{Text: fill(prose)}},
		{"one word of 64 KiB", abi.Event{Text: fill("x")}},
		{"64 KiB of Chinese", abi.Event{Text: fill("我搬到了里斯本。")}},
		{"64 KiB of spaces", abi.Event{Text: fill(" ")}},
		{"64 KiB of digits", abi.Event{Text: fill("5550134 ")}},
	}
	for _, t := range texts {
		e := base("text")
		e.Text = t.event.Text
		for range abi.MaxBefore {
			e.Before = append(e.Before, abi.Turn{ID: strings.Repeat("i", 64), At: noon, Speaker: "Tom", Text: e.Text})
		}
		add("text: "+t.name, e)
	}
	u := base("utterance")
	u.PCM, u.Rate, u.Text = tone(30), 16000, fill(prose)
	add("utterance of 30 seconds", u)
	a := base("audio")
	// The longest message from a device: 700 KiB of one byte a sample, 8,000 a second
	// (node/intake/wire).
	a.PCM, a.Rate = tone(89.6), 16000
	add("audio of 90 seconds", a)
	add("photo of 640×480", photo(640, 480))
	s := base("sensor")
	s.Name, s.Values = strings.Repeat("n", abi.MaxName), make([]float64, abi.MaxValues)
	for i := range s.Values {
		s.Values[i] = math.MaxFloat64 * float64(1-2*(i%2))
	}
	add("64 readings", s)
	s.Kind = "button"
	add("64 readings of a button", s)
	l := base("location")
	l.Values = []float64{-90, 180, math.MaxFloat64}
	add("the south pole", l)
	return out
}

// fill repeats unit up to the greatest length of an event's text, cut between characters.
func fill(unit string) string {
	return strings.ToValidUTF8(strings.Repeat(unit, abi.MaxEventText/len(unit)+1)[:abi.MaxEventText], "")
}

// muchEvents repeats each text in which the plugin found something, as lines and as sentences: a
// thousand results have to be reduced to what an answer may hold.
func (r *run) muchEvents() []named {
	var out []named
	add := func(name, unit string) {
		for _, k := range []string{"text", "utterance"} {
			if r.manifest.Takes(k) {
				e := base(k)
				e.Text = fill(unit)
				out = append(out, named{k + ": " + name, e})
			}
		}
	}
	for i, e := range r.events {
		if len(r.answers[i]) > len(nothing) && e.event.Text != "" && len(e.event.Text) < 1000 {
			add(quoted(e.event.Text)+" over and over", e.event.Text+"\n")
		}
	}
	return out
}

// nothing is an output with only its version.
var nothing = abi.AppendOutput(nil, &abi.Output{})

// quoted returns the beginning of a text, in quotes.
func quoted(s string) string {
	r := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\ufeff' {
			return '·'
		}
		return r
	}, s))
	if len(r) > 24 {
		return `"` + string(r[:24]) + `…"`
	}
	return `"` + string(r) + `"`
}
