package sight

import (
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
)

// camera makes the head of a JPEG with Exif, in the layout of cameras: IFD 0, the Exif IFD, the GPS
// IFD, then the values that do not fit into their entries.
func camera(order binary.AppendByteOrder, orientation uint16, taken, offset, ns, ew string, at [6]uint32) []byte {
	const head, ifd = 8, 2 + 4
	first := uint32(head)
	exif := first + ifd + 3*12
	gps := exif + ifd + 2*12
	far := gps + ifd + 4*12
	var b, values []byte
	short := func(tag, kind uint16, count uint32, v []byte) {
		b = order.AppendUint16(b, tag)
		b = order.AppendUint16(b, kind)
		b = order.AppendUint32(b, count)
		b = append(b, append(v, 0, 0, 0, 0)[:4]...)
	}
	long := func(tag, kind uint16, count uint32, v []byte) {
		short(tag, kind, count, order.AppendUint32(nil, far+uint32(len(values))))
		values = append(values, v...)
	}
	if order.String() == "LittleEndian" {
		b = append(b, "II*\x00"...)
	} else {
		b = append(b, "MM\x00*"...)
	}
	b = order.AppendUint32(b, first)
	b = order.AppendUint16(b, 3)
	short(0x0112, 3, 1, order.AppendUint16(nil, orientation))
	short(0x8769, 4, 1, order.AppendUint32(nil, exif))
	short(0x8825, 4, 1, order.AppendUint32(nil, gps))
	b = order.AppendUint32(b, 0)
	b = order.AppendUint16(b, 2)
	long(0x9003, 2, uint32(len(taken)+1), append([]byte(taken), 0))
	long(0x9011, 2, uint32(len(offset)+1), append([]byte(offset), 0))
	b = order.AppendUint32(b, 0)
	b = order.AppendUint16(b, 4)
	triple := func(v []uint32) (out []byte) {
		for i, n := range v {
			out = order.AppendUint32(order.AppendUint32(out, n), []uint32{1, 1, 100}[i])
		}
		return out
	}
	short(1, 2, 2, []byte(ns))
	long(2, 5, 3, triple(at[:3]))
	short(3, 2, 2, []byte(ew))
	long(4, 5, 3, triple(at[3:]))
	b = order.AppendUint32(b, 0)
	b = append([]byte("Exif\x00\x00"), append(b, values...)...)
	out := append([]byte{0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(b)+2))...)
	return append(append(out, b...), 0xff, 0xda)
}

func TestExif(t *testing.T) {
	shanghai := [6]uint32{31, 13, 4944, 121, 28, 2520}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		x := ReadExif(camera(order, 6, "2026:09:14 10:20:30", "+08:00", "N", "E", shanghai))
		if !x.Taken.Equal(time.Date(2026, 9, 14, 2, 20, 30, 0, time.UTC)) || !x.Zoned || x.Turn != 1 || !x.Placed || math.Abs(x.Lat-31.2304) > 1e-6 || math.Abs(x.Lon-121.47366667) > 1e-6 {
			t.Errorf("%s: %+v", order, x)
		}
		x = ReadExif(camera(order, 8, "2026:09:14 10:20:30", "", "S", "W", shanghai))
		if !x.Taken.Equal(time.Date(2026, 9, 14, 10, 20, 30, 0, time.UTC)) || x.Zoned || x.Turn != 3 || x.Lat > 0 || x.Lon > 0 {
			t.Errorf("%s: %+v", order, x)
		}
	}
	// Impossible values are left out, and the rest is read.
	x := ReadExif(camera(binary.BigEndian, 9, "yesterday", "?", "N", "E", [6]uint32{91, 0, 0, 0, 0, 0}))
	if x != (Exif{}) {
		t.Errorf("%+v", x)
	}
	if x := ReadExif(photo(t, "cat.jpg")); x.Turn != 0 || x.Placed {
		t.Errorf("%+v", x)
	}
}

// However it is cut or changed, it is read without a crash, and within its limits.
func FuzzExif(f *testing.F) {
	whole := camera(binary.LittleEndian, 6, "2026:09:14 10:20:30", "+08:00", "N", "E", [6]uint32{31, 13, 4944, 121, 28, 2520})
	for n := range whole {
		f.Add(whole[:n])
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		x := ReadExif(b)
		if x.Turn < 0 || x.Turn > 3 || math.Abs(x.Lat) > 90 || math.Abs(x.Lon) > 180 {
			t.Errorf("%+v", x)
		}
	})
}

// Malicious photos are refused before they are unpacked.
func TestHostilePhotos(t *testing.T) {
	note := photo(t, "note.png")
	for n := 0; n < len(note); n += 37 {
		_, err := (&Tesseract{}).Read(t.Context(), note[:n], Hints{})
		fault(t, err, engine.Refused, "")
	}
	jpeg := photo(t, "cat.jpg")
	for at := 2; at+9 < len(jpeg); at++ {
		if jpeg[at] == 0xff && jpeg[at+1] == 0xc0 { // baseline frame: height and width
			huge := append([]byte{}, jpeg...)
			copy(huge[at+5:], []byte{0xff, 0xff, 0xff, 0xff})
			_, err := (&Tesseract{}).Read(t.Context(), huge, Hints{})
			fault(t, err, engine.Refused, "65535×65535 pixels")
			return
		}
	}
	t.Fatal("the JPEG has no frame")
}
