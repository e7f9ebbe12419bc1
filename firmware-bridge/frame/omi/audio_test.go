package omi

import (
	"fmt"
	"strings"
	"testing"
)

// says plays notifications, written as "id/index:bytes", and describes the result in short form.
func says(a *Audio, in string) string {
	var out []string
	for _, word := range strings.Fields(in) {
		var items []AudioItem
		switch word {
		case "flush":
			items = a.Flush()
		case "short":
			items = a.Push([]byte{1, 2})
		default:
			var id, index int
			var data string
			if _, err := fmt.Sscanf(word, "%d/%d:%s", &id, &index, &data); err != nil {
				panic(word)
			}
			items = a.Push(append([]byte{byte(id), byte(id >> 8), byte(index)}, data...))
		}
		for _, i := range items {
			out = append(out, tell(i))
		}
	}
	return strings.Join(out, " ")
}

func tell(i AudioItem) string {
	broken := func(b bool) string {
		if b {
			return "!"
		}
		return ""
	}
	switch i := i.(type) {
	case Frame:
		return string(i)
	case Gap:
		return fmt.Sprintf("gap%d-%d(%d)%s", i.First, i.Last(), i.Count, broken(i.Broken))
	case Reset:
		return fmt.Sprintf("reset%d-%d%s", i.Before, i.After, broken(i.Broken))
	case Damaged:
		return "spoilt:" + strings.ReplaceAll(strings.TrimPrefix(i.Reason, "audio "), " ", "_")
	}
	return "?"
}

// The gap, reset and duplicate cases of numbers are those of Omi's
// app/test/unit/ble_packet_continuity_test.dart (MIT).
func TestAudio(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"one frame a notification", "7/0:a 8/0:b 9/0:c flush", "a b c"},
		{"fragments", "1/0:aa 2/1:bb 3/2:c 4/0:d flush", "aabbc d"},
		{"wrap-around", "65534/0:a 65535/1:b 0/2:c 1/0:d flush", "abc d"},
		{"joined within a frame", "5/2:x 6/3:y 7/0:a 8/0:b flush", "a b"},
		{"a lost first fragment", "1/0:a 3/1:x 4/2:y 5/0:b 6/0:c flush", "gap2-2(1)! b c"},
		{"a lost middle", "100/0:a 104/0:b flush", "gap101-103(3)! b"},
		{"a loss between frames costs the one that may lack its end", "1/0:a 2/0:b 4/0:c flush", "a gap3-3(1)! c"},
		{"a loss over the wrap-around", "65535/0:a 2/0:b flush", "gap0-1(2)! b"},
		{"the largest gap", "50000/0:a 1/0:b flush", "gap50001-0(15536)! b"},
		{"a gap of 32766", "0/0:a 32767/0:b flush", "gap1-32766(32766)! b"},
		{"half the circle is a reset", "0/0:a 32768/0:b flush", "reset0-32768! b"},
		{"a reset", "5000/0:a 1/0:b 2/0:c flush", "reset5000-1! b c"},
		{"a reset close by", "5/0:a 0/0:b 1/0:c flush", "reset5-0! b c"},
		{"a duplicate", "200/0:a 200/0:a 201/1:b flush", "ab"},
		{"a used id with other bytes", "200/0:a 200/1:b 201/0:c flush", "reset200-200! c"},
		{"reordered: what was given as missing comes late", "1/0:a 3/0:c 2/0:b 4/0:d flush", "gap2-2(1)! spoilt:notification_came_late c d"},
		{"reordered over the wrap-around", "65535/0:a 1/0:c 0/0:b 2/0:d flush", "gap0-0(1)! spoilt:notification_came_late c d"},
		{"fragments out of order", "1/0:a 2/2:b 3/0:c flush", "spoilt:fragments_are_not_in_order c"},
		{"too short changes nothing", "10/0:a short 11/1:b flush", "spoilt:notification_of_less_than_3_bytes ab"},
		{"a flush twice", "10/0:a flush flush 11/0:b flush", "a b"},
	} {
		if got := says(&Audio{}, c.in); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.in, got, c.want)
		}
	}
}

func TestAudioBounds(t *testing.T) {
	var a Audio
	big := make([]byte, 3+200)
	ended := 0
	for i := range 300 {
		big[0], big[1], big[2] = byte(i), byte(i>>8), byte(i)
		for _, item := range a.Push(big) {
			if _, ok := item.(Damaged); ok {
				ended++
			} else {
				t.Fatalf("%v", tell(item))
			}
		}
		if len(a.frame) > maxFrame {
			t.Fatalf("%d bytes are held", len(a.frame))
		}
	}
	if ended == 0 {
		t.Error("a frame without an end was held for ever")
	}
	if items := a.Push([]byte{0, 0, 0}); len(items) != 1 {
		t.Errorf("an empty fragment: %v", items)
	}
	if items := a.Flush(); len(items) != 0 {
		t.Errorf("an empty frame was given: %v", items)
	}
}

// Whatever comes, frames only hold bytes that were sent, and memory is limited.
func FuzzAudio(f *testing.F) {
	f.Add([]byte{5, 1, 0, 0, 9, 9, 5, 2, 0, 1, 8, 8, 4, 9, 0, 0, 7, 2, 0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		var a Audio
		sent, got := 0, 0
		count := func(items []AudioItem) {
			for _, i := range items {
				switch i := i.(type) {
				case Frame:
					got += len(i)
				case Gap:
					if i.Count < 1 || i.Count > 0x7ffe {
						t.Fatalf("%+v", i)
					}
				}
			}
		}
		for len(in) > 0 {
			n := min(int(in[0]%64), len(in)-1)
			b := in[1 : 1+n]
			in = in[1+n:]
			sent += max(0, len(b)-audioHeader)
			count(a.Push(b))
			if len(a.frame) > maxFrame || len(a.skipped) > maxSkipped {
				t.Fatalf("%d bytes, %d ids", len(a.frame), len(a.skipped))
			}
		}
		count(a.Flush())
		if got > sent {
			t.Fatalf("%d bytes of frames from %d", got, sent)
		}
	})
}
