package omi

import (
	"bytes"
	"strings"
	"testing"
)

// parts cuts a JPEG as the firmware does; orientation -1 leaves the byte out.
func parts(jpeg []byte, orientation int) [][]byte {
	first := []byte{0, 0}
	room := 200
	if orientation >= 0 {
		first, room = append(first, byte(orientation)), 199
	}
	cut := min(room, len(jpeg))
	out := [][]byte{append(first, jpeg[:cut]...)}
	for n, rest := 1, jpeg[cut:]; len(rest) > 0; n++ {
		cut := min(200, len(rest))
		out = append(out, append([]byte{byte(n), byte(n >> 8)}, rest[:cut]...))
		rest = rest[cut:]
	}
	return append(out, []byte{0xff, 0xff})
}

func jpegOf(n int) []byte {
	b := bytes.Repeat([]byte{0x5a}, n)
	copy(b, []byte{0xff, 0xd8, 0xff})
	return b
}

func push(p *Photos, in [][]byte) (out []PhotoItem) {
	for _, b := range in {
		out = append(out, p.Push(b)...)
	}
	return out
}

func TestPhotos(t *testing.T) {
	for _, size := range []int{2, 198, 199, 200, 201, 399, 400, 5000, 60_000, MaxPhoto} {
		for orientation := -1; orientation < 4; orientation++ {
			var p Photos
			want := jpegOf(size)
			out := push(&p, parts(want, orientation))
			turned := orientation * 90
			if orientation < 0 {
				turned = 180
			}
			if len(out) != 1 {
				t.Fatalf("%d bytes, orientation %d: %d items", size, orientation, len(out))
			}
			if got, ok := out[0].(Photo); !ok || !bytes.Equal(got.JPEG, want) || got.Orientation != turned {
				t.Errorf("%d bytes, orientation %d: %T, turned %d", size, orientation, out[0], got.Orientation)
			}
		}
	}
}

func TestLostPhotos(t *testing.T) {
	whole := parts(jpegOf(1000), 1)
	without := func(i int) [][]byte { return append(append([][]byte{}, whole[:i]...), whole[i+1:]...) }
	for _, c := range []struct {
		name   string
		in     [][]byte
		reason string
	}{
		{"a part is missing", without(2), "part 3 came after part 1"},
		{"parts in another order", [][]byte{whole[0], whole[2], whole[1], whole[3]}, "part 2 came after part 0"},
		{"a part twice with other bytes", [][]byte{whole[0], whole[1], {1, 0, 9}}, "part 1 came after part 1"},
		{"another begins", append([][]byte{whole[0], whole[1]}, parts(jpegOf(1001), 1)[0]), "the next began before its end"},
		{"no JPEG", [][]byte{{0, 0, 1, 'P', 'N', 'G'}}, "begins with 01 50 4e 47, not like a JPEG"},
		{"orientation 4", [][]byte{{0, 0, 4, 0xff, 0xd8}}, "begins with 04 ff d8, not like a JPEG"},
		{"nothing in it", [][]byte{{0, 0}}, "begins with , not like a JPEG"},
		{"bytes behind the end", [][]byte{whole[0], {0xff, 0xff, 1}}, "1 bytes behind its end"},
		{"a notification of 1 byte", [][]byte{whole[0], {1}}, "a notification of 1 bytes"},
		{"too large", parts(jpegOf(MaxPhoto+1), 0), "over 204800 bytes"},
	} {
		var p Photos
		out := push(&p, c.in)
		if len(out) != 1 {
			t.Errorf("%s: %d items", c.name, len(out))
			continue
		}
		if lost, ok := out[0].(LostPhoto); !ok || lost.Reason != c.reason {
			t.Errorf("%s: %+v", c.name, out[0])
		}
		// The next photo is complete again.
		p.Flush()
		if out := push(&p, whole); len(out) != 1 {
			t.Errorf("%s: then %v", c.name, out)
		} else if _, ok := out[0].(Photo); !ok {
			t.Errorf("%s: then %+v", c.name, out[0])
		}
	}
	var p Photos
	push(&p, whole[:2])
	if out := p.Flush(); len(out) != 1 || out[0].(LostPhoto).Reason != "the connection ended" || p.Flush() != nil {
		t.Errorf("%+v", out)
	}
	// Duplicate parts, and stray ones in the middle of a photo, do no harm.
	doubled := [][]byte{{9, 0, 1}, {0xff, 0xff}, whole[0], whole[0], whole[1], whole[1]}
	if out := push(&p, append(doubled, whole[2:]...)); len(out) != 1 || len(out[0].(Photo).JPEG) != 1000 {
		t.Errorf("%d items", len(out))
	}
}

func FuzzPhotos(f *testing.F) {
	f.Add([]byte(strings.Repeat("\x06\x00\x00\x01\xff\xd8\x01\x04\x01\x00ab\x02\xff\xff", 2)))
	f.Fuzz(func(t *testing.T, in []byte) {
		var p Photos
		for len(in) > 0 {
			n := min(int(in[0]), len(in)-1)
			for _, i := range p.Push(in[1 : 1+n]) {
				if got, ok := i.(Photo); ok && (!jpegStarts(got.JPEG) || len(got.JPEG) > MaxPhoto || got.Orientation%90 != 0) {
					t.Fatalf("%d bytes, %d°", len(got.JPEG), got.Orientation)
				}
			}
			in = in[1+n:]
		}
		p.Flush()
	})
}
