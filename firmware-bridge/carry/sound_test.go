package carry

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Messages are cut at a second, at a jump in time and at a pause.
func TestSound(t *testing.T) {
	began := time.UnixMilli(1773489600000)
	s := Sound{Codec: "opus", Rate: 16000}
	var got []string
	add := func(ms int) {
		m, err := s.Add([]byte{1}, 20*time.Millisecond, began.Add(time.Duration(ms)*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if m != nil {
			got = append(got, fmt.Sprintf("%d:%d:%d:%v", m.Index, m.At.Sub(began).Milliseconds(), len(m.Data)/3, m.Last))
		}
	}
	for i := range 60 {
		add(20 * i)
	}
	add(3000) // a hole
	for range 50 {
		add(3000) // late frames come all at once
	}
	if s.Idle(began.Add(5 * time.Second)) {
		t.Error("over after 2 s")
	}
	if !s.Idle(began.Add(5*time.Second + 1)) {
		t.Error("not over after more than 2 s")
	}
	if m := s.Take(true); m == nil || !m.Last || m.Index != 3 || s.Take(true) != nil || s.Idle(began.Add(time.Hour)) {
		t.Errorf("%+v", m)
	}
	add(9000)
	if m := s.Take(true); m == nil || m.Index != 0 {
		t.Errorf("%+v", m)
	}
	if s := strings.Join(got, " "); s != "0:0:50:false 1:1000:10:false 2:3000:50:false" {
		t.Error(s)
	}
	pcm := Sound{Codec: "pcm16", Rate: 8000}
	if _, err := pcm.Add([]byte{1}, time.Millisecond, began); err == nil {
		t.Error("half a sample was taken")
	}
}

// The sound of a device whose clock is wrong by 1 % keeps the time at which it was heard, and is
// one recording.
func TestClockDrift(t *testing.T) {
	for _, every := range []time.Duration{20*time.Millisecond + 200*time.Microsecond, 20*time.Millisecond - 200*time.Microsecond} {
		began := time.UnixMilli(1773489600000)
		s := Sound{Codec: "opus", Rate: 16000}
		messages, frames := 0, 0
		for i := range 50 * 600 { // ten minutes, after which it is six seconds off
			m, err := s.Add([]byte{1}, 20*time.Millisecond, began.Add(time.Duration(i)*every))
			if err != nil {
				t.Fatal(err)
			}
			if m == nil {
				continue
			}
			if heard := began.Add(time.Duration(frames) * every); !m.At.Equal(heard) || m.Index != uint64(messages) || m.Last {
				t.Fatalf("message %d is of %s, its first frame was heard at %s", m.Index, m.At, heard)
			}
			messages, frames = messages+1, frames+len(m.Data)/3
		}
		if messages < 550 {
			t.Errorf("%d messages", messages)
		}
	}
}

// A bad link makes one event a second that still names as much as possible.
func TestLosses(t *testing.T) {
	var l Losses
	now := time.UnixMilli(1773489600000)
	if l.due(now) {
		t.Error("due without a loss")
	}
	for i := range 40 {
		l.Run(60000+200*i, 60149+200*i, 150, now)
	}
	for range 9 {
		l.Other("something", now)
	}
	if l.due(now) || !l.due(now.Add(time.Second)) {
		t.Error("not due after a second")
	}
	at, reason := l.drain()
	if !at.Equal(now) || len(reason) > 512 || !strings.HasPrefix(reason, "6000 audio notifications lost: 60000-60149 ") || !strings.Contains(reason, "and 28 more runs; something") {
		t.Errorf("%s %q", at, reason)
	}
	if _, reason := l.drain(); reason != "" {
		t.Error(reason)
	}
}
