package pending

import (
	"reflect"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
)

func TestWakesAreDeduplicated(t *testing.T) {
	s := New()
	for range 3 {
		s.Add(relay.Wake{ID: [16]byte{1}})
	}
	s.Add(relay.Wake{Mailbox: true, ID: [16]byte{1}})
	<-s.ready
	if n := len(s.Take()); n != 2 || len(s.Take()) != 0 {
		t.Fatal(n)
	}
}

func TestEncodeRoundTrip(t *testing.T) {
	want := []relay.Wake{{ID: [16]byte{1, 0xab}}, {Mailbox: true, ID: [16]byte{15: 0xff}}}
	from, got, err := Decode(encode("me", want))
	if err != nil || from != "me" || !reflect.DeepEqual(got, want) {
		t.Fatal(from, got, err)
	}
	full := make([]relay.Wake, PerMessage)
	if n := len(encode("0123456789abcdef0123456789abcdef", full)); n >= 8000 {
		t.Fatal(n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("me,s00000000000000000000000000000000")
	f.Fuzz(func(t *testing.T, text string) {
		from, some, err := Decode(text)
		if err != nil {
			return
		}
		again, same, err := Decode(encode(from, some))
		if err != nil || again != from || !reflect.DeepEqual(some, same) {
			t.Fatal(again, same, err)
		}
	})
}
