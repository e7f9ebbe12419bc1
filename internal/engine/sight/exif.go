package sight

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// Exif holds what a camera wrote into a photo, as far as it is used. A field is zero if the camera
// wrote nothing, or something impossible.
type Exif struct {
	Taken    time.Time // by the camera's clock; in UTC if Zoned is false
	Zoned    bool      // the camera wrote its offset from UTC
	Turn     int       // quarter turns clockwise that put it upright, 0 to 3
	Placed   bool      // Lat and Lon are set
	Lat, Lon float64   // degrees, WGS 84
}

// ReadExif reads the Exif of a JPEG file (CIPA DC-008, JEITA CP-3451). It never fails: for a photo
// without Exif, or with a broken one, it returns the zero Exif. It reads at most the segments
// before the picture.
func ReadExif(photo []byte) (x Exif) {
	b, _ := exifOf(photo)
	return ReadTIFF(b)
}

// ReadTIFF reads Exif that is stored separately, as in HEIC files, in the structure of TIFF. It
// never fails either.
func ReadTIFF(b []byte) (x Exif) {
	t := tiff{b: b}
	switch {
	case len(b) < 8:
		return x
	case string(b[:4]) == "II*\x00":
		t.order = binary.LittleEndian
	case string(b[:4]) == "MM\x00*":
		t.order = binary.BigEndian
	default:
		return x
	}
	first := t.directory(t.order.Uint32(t.b[4:]))
	switch t.number(first[0x0112]) { // orientation; mirrored pictures are turned, and stay mirrored
	case 3, 4:
		x.Turn = 2
	case 5, 6:
		x.Turn = 1
	case 7, 8:
		x.Turn = 3
	}
	more := t.directory(t.number(first[0x8769]))
	taken := t.text(more[0x9003])
	if taken == "" {
		taken = t.text(first[0x0132])
	}
	if offset := t.text(more[0x9011]); offset != "" {
		if at, err := time.Parse("2006:01:02 15:04:05-07:00", taken+offset); err == nil {
			x.Taken, x.Zoned = at, true
		}
	}
	if x.Taken.IsZero() {
		x.Taken, _ = time.Parse("2006:01:02 15:04:05", taken)
	}
	gps := t.directory(t.number(first[0x8825]))
	lat, ok1 := t.degrees(gps[2], t.text(gps[1]), "N", "S", 90)
	lon, ok2 := t.degrees(gps[4], t.text(gps[3]), "E", "W", 180)
	if ok1 && ok2 {
		x.Placed, x.Lat, x.Lon = true, lat, lon
	}
	return x
}

// tiff is the structure of Exif. An offset outside of it reads as nothing.
type tiff struct {
	b     []byte
	order binary.ByteOrder
}

// entry is one field of a directory: kind, count, and the value or its offset.
type entry struct {
	kind  uint16
	count uint32
	value []byte // 4 bytes; nil: there is no entry
}

// exifOf finds the APP1 segment with Exif in a JPEG.
func exifOf(photo []byte) (tiff []byte, ok bool) {
	if len(photo) < 4 || photo[0] != 0xff || photo[1] != 0xd8 {
		return nil, false
	}
	for at := 2; at+4 <= len(photo) && photo[at] == 0xff && photo[at+1] != 0xda; {
		size := int(binary.BigEndian.Uint16(photo[at+2:]))
		if size < 2 || at+2+size > len(photo) {
			return nil, false
		}
		body, found := bytes.CutPrefix(photo[at+4:at+2+size], []byte("Exif\x00\x00"))
		if photo[at+1] == 0xe1 && found && len(body) >= 8 {
			return body, true
		}
		at += 2 + size
	}
	return nil, false
}

// directory reads the fields at an offset; if one occurs twice, the first counts.
func (t *tiff) directory(at uint32) map[uint16]entry {
	out := map[uint16]entry{}
	if at < 8 || int64(at)+2 > int64(len(t.b)) {
		return out
	}
	n := int(t.order.Uint16(t.b[at:]))
	for i := range n {
		from := int64(at) + 2 + int64(i)*12
		if from+12 > int64(len(t.b)) {
			break
		}
		f := t.b[from:]
		tag := t.order.Uint16(f)
		if _, twice := out[tag]; !twice {
			out[tag] = entry{t.order.Uint16(f[2:]), t.order.Uint32(f[4:]), f[8:12]}
		}
	}
	return out
}

// number reads a SHORT or LONG.
func (t *tiff) number(e entry) uint32 {
	switch {
	case e.value == nil || e.count != 1:
	case e.kind == 3:
		return uint32(t.order.Uint16(e.value))
	case e.kind == 4:
		return t.order.Uint32(e.value)
	}
	return 0
}

// far returns n bytes of a value that does not fit into its entry.
func (t *tiff) far(e entry, n int64) []byte {
	at := int64(t.order.Uint32(e.value))
	if at+n > int64(len(t.b)) {
		return nil
	}
	return t.b[at : at+n]
}

// text reads up to 40 bytes of ASCII.
func (t *tiff) text(e entry) string {
	if e.value == nil || e.kind != 2 || e.count > 40 {
		return ""
	}
	b := e.value[:min(4, e.count)]
	if e.count > 4 {
		b = t.far(e, int64(e.count))
	}
	return strings.TrimRight(string(b), "\x00 ")
}

// degrees reads three RATIONALs: degrees, minutes, seconds.
func (t *tiff) degrees(e entry, ref, plus, minus string, most float64) (float64, bool) {
	if e.value == nil || e.kind != 5 || e.count != 3 || ref != plus && ref != minus {
		return 0, false
	}
	b := t.far(e, 24)
	if b == nil {
		return 0, false
	}
	sum := 0.0
	for i, unit := range []float64{1, 60, 3600} {
		part := float64(t.order.Uint32(b[8*i:])) / float64(t.order.Uint32(b[8*i+4:]))
		if math.IsNaN(part) || math.IsInf(part, 0) {
			return 0, false
		}
		sum += part / unit
	}
	if sum > most {
		return 0, false
	}
	if ref == minus {
		sum = -sum
	}
	return sum, true
}
