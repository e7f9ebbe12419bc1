package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"
)

// pieceOf returns a chunk of a PNG file (PNG 3rd edition, section 5.3).
func pieceOf(kind string, data ...byte) []byte {
	b := append([]byte(kind), data...)
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	return binary.BigEndian.AppendUint32(append(out, b...), crc32.ChecksumIEEE(b))
}

const magic = "\x89PNG\r\n\x1a\n"

// headOf returns the IHDR of a picture.
func headOf(w, h uint32, depth, kind, compression, filter, interlace byte) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return pieceOf("IHDR", append(b, depth, kind, compression, filter, interlace)...)
}

// rows returns compressed pixels, each row with its filter.
func rows(t *testing.T, b ...byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return pieceOf("IDAT", out.Bytes()...)
}

func file(pieces ...[]byte) []byte { return append([]byte(magic), slices.Concat(pieces...)...) }

// Files that are broken in the same ways as PngSuite's x files, and in others, are
// refused.
func TestBrokenPNG(t *testing.T) {
	end, row := pieceOf("IEND"), rows(t, 0, 7, 0, 7)
	good := file(headOf(1, 2, 8, 0, 0, 0, 0), row, end)
	if p, err := Decode(good); err != nil || p.Width != 1 || p.Height != 2 {
		t.Fatal(p, err)
	}
	wrongSum := headOf(1, 2, 8, 0, 0, 0, 0)
	wrongSum[len(wrongSum)-1] ^= 1
	for what, b := range map[string][]byte{
		"another signature":         append([]byte("\x89PNG\r\n\x1a\r"), good[8:]...),
		"line ends changed":         bytes.Replace(good, []byte("\r\n"), []byte("\n"), 1),
		"a sum that is wrong":       file(wrongSum, row, end),
		"no head":                   file(row, end),
		"no pixels":                 file(headOf(1, 2, 8, 0, 0, 0, 0), end),
		"no rows":                   file(headOf(1, 2, 8, 0, 0, 0, 0), rows(t), end),
		"a row too few":             file(headOf(1, 2, 8, 0, 0, 0, 0), rows(t, 0, 7), end),
		"no end":                    file(headOf(1, 2, 8, 0, 0, 0, 0), row),
		"pixels after the end":      file(headOf(1, 2, 8, 0, 0, 0, 0), end, row),
		"two heads":                 file(headOf(1, 2, 8, 0, 0, 0, 0), headOf(1, 2, 8, 0, 0, 0, 0), row, end),
		"no width":                  file(headOf(0, 2, 8, 0, 0, 0, 0), row, end),
		"no height":                 file(headOf(1, 0, 8, 0, 0, 0, 0), row, end),
		"a width below zero":        file(headOf(1<<31, 2, 8, 0, 0, 0, 0), row, end),
		"more than may be":          file(headOf(1<<14, 1<<14, 8, 0, 0, 0, 0), row, end),
		"as many as there are":      file(headOf(1<<31-1, 1<<31-1, 16, 6, 0, 0, 0), row, end),
		"a depth of 0":              file(headOf(1, 2, 0, 0, 0, 0, 0), row, end),
		"a depth of 99":             file(headOf(1, 2, 99, 0, 0, 0, 0), row, end),
		"a kind of 1":               file(headOf(1, 2, 8, 1, 0, 0, 0), row, end),
		"a kind of 9":               file(headOf(1, 2, 8, 9, 0, 0, 0), row, end),
		"four bits of each colour":  file(headOf(1, 2, 4, 2, 0, 0, 0), row, end),
		"another compression":       file(headOf(1, 2, 8, 0, 1, 0, 0), row, end),
		"another way of filters":    file(headOf(1, 2, 8, 0, 0, 1, 0), row, end),
		"another interlace":         file(headOf(1, 2, 8, 0, 0, 0, 2), row, end),
		"a filter that is none":     file(headOf(1, 2, 8, 0, 0, 0, 0), rows(t, 9, 7, 0, 7), end),
		"a palette that is missing": file(headOf(1, 2, 8, 3, 0, 0, 0), row, end),
		"a palette too long":        file(headOf(1, 2, 1, 3, 0, 0, 0), pieceOf("PLTE", make([]byte, 3*257)...), row, end),
		"a third of a colour":       file(headOf(1, 2, 8, 3, 0, 0, 0), pieceOf("PLTE", 1, 2), row, end),
		"a length beyond the file":  append(file(headOf(1, 2, 8, 0, 0, 0, 0)), 0x7f, 0xff, 0xff, 0xff, 'I', 'D', 'A', 'T'),
		"pixels that are not zlib":  file(headOf(1, 2, 8, 0, 0, 0, 0), pieceOf("IDAT", 1, 2, 3, 4), end),
		"nothing":                   nil,
		"a GIF":                     []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
	} {
		if p, err := Decode(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
}

// Wide colours take as much memory as narrow ones.
func TestPixelsOf16Bits(t *testing.T) {
	// 16 bits of four colours: 8 bytes each.
	if p, err := Decode(file(headOf(4096, 4096, 16, 6, 0, 0, 0), rows(t), pieceOf("IEND"))); err == nil || !bytes.Contains([]byte(err.Error()), []byte("at most")) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Decode(file(headOf(4096, 4096, 8, 0, 0, 0, 0), rows(t), pieceOf("IEND"))); err == nil || bytes.Contains([]byte(err.Error()), []byte("at most")) {
		t.Errorf("as many narrow ones: %v", err)
	}
}

// A file that was cut at any position, or in which any bit was changed, is refused, or
// is a picture within the limits; nothing panics.
func TestEveryBitOfAPicture(t *testing.T) {
	m := image.NewPaletted(image.Rect(0, 0, 17, 9), color.Palette{color.Black, color.White, color.RGBA{200, 30, 40, 255}})
	full := image.NewRGBA(m.Rect)
	for i := range m.Pix {
		m.Pix[i] = byte(i % 3)
		full.Pix[4*i], full.Pix[4*i+1], full.Pix[4*i+3] = byte(i), byte(3*i), 255
	}
	grey := image.NewGray(m.Rect)
	for i := range grey.Pix {
		grey.Pix[i] = byte(5 * i)
	}
	var files [][]byte
	add := func(err error, b *bytes.Buffer) {
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, bytes.Clone(b.Bytes()))
		b.Reset()
	}
	var b bytes.Buffer
	add(png.Encode(&b, m), &b)
	add(png.Encode(&b, full), &b)
	add(jpeg.Encode(&b, full, nil), &b)
	add(jpeg.Encode(&b, grey, nil), &b)
	taken, refused := 0, 0
	try := func(b []byte) {
		p, err := Decode(b)
		switch {
		case errors.Is(err, ErrFormat):
			refused++
		case err != nil:
			t.Fatal(err)
		case p.Width < 1 || p.Width > MaxWidth || p.Height < 1 || p.Height > MaxWidth || len(p.Gray) != p.Width*p.Height || len(p.RGB) != 3*len(p.Gray):
			t.Fatalf("%d×%d of %d and %d bytes", p.Width, p.Height, len(p.Gray), len(p.RGB))
		default:
			taken++
		}
	}
	for _, whole := range files {
		for n := range whole {
			try(whole[:n])
			for bit := range 8 {
				changed := bytes.Clone(whole)
				changed[n] ^= 1 << bit
				try(changed)
			}
		}
	}
	t.Logf("%d taken, %d refused", taken, refused)
}
