package canonical

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

// The examples of RFC 8949, appendix A, in hexadecimal.
const (
	// Values in the canonical form: decoding and encoding gives the same bytes.
	kept = `00 01 0a 17 1818 1819 1864 1903e8 1a000f4240 1b000000e8d4a51000 1bffffffffffffffff 3bffffffffffffffff 20 29 3863 3903e7
		f90000 f98000 f93c00 fb3ff199999999999a f93e00 f97bff fa47c35000 fa7f7fffff fb7e37e43c8800759c f90001 f90400 f9c400 fbc010666666666666
		f97c00 f97e00 f9fc00 f4 f5 f6 f0 f8ff 40 4401020304 60 6161 6449455446 62225c 62c3bc 63e6b0b4 64f0908591 80 83010203
		8301820203820405 98190102030405060708090a0b0c0d0e0f101112131415161718181819 a0 a201020304 a26161016162820203 826161a161626163
		a56161614161626142616361436164614461656145`
	// Values that have another, canonical form. A caller that signs or hashes them encodes them
	// again, and gets that form.
	changed = `fa7f800000 fa7fc00000 faff800000 fb7ff0000000000000 fb7ff8000000000000 fbfff0000000000000 f7`
	// Tags, and items of indefinite length.
	refused = `c249010000000000000000 c349010000000000000000 c074323031332d30332d32315432303a30343a30305a c11a514b67b0 c1fb41d452d9ec200000
		d74401020304 d818456449455446 d82076687474703a2f2f7777772e6578616d706c652e636f6d
		5f42010243030405ff 7f657374726561646d696e67ff 9fff 9f018202039f0405ffff 9f01820203820405ff 83018202039f0405ff 83019f0203ff820405
		9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff bf61610161629f0203ffff 826161bf61626163ff bf6346756ef563416d7421ff`
	// Appendix F: input that is not well-formed.
	malformed = `18 19 1a 1b 1901 1a0102 1b01020304050607 38 58 78 98 9a01ff00 b8 d8 f8 f900 fa0000 fb000000 41 61 5affffffff00 5bffffffffffffffff010203
		7affffffff00 7b7fffffffffffffff010203 81 818181818181818181 8200 a1 a20102 a100 a2000000 c0 5f4100 7f6100 9f 9f0102 bf bf01020102 819f 9f8000
		9f9f9f9f9fffffffff 9f819f819f9fffffff 1c 1d 1e 3c 3d 3e 5c 5d 5e 7c 7d 7e 9c 9d 9e bc bd be dc dd de fc fd fe f800 f801 f818 f81f
		5f00ff 5f21ff 5f6100ff 5f80ff 5fa0ff 5fc000ff 5fe0ff 7f4100ff 5f5f4100ffff 7f7f6100ffff ff 81ff 8200ff a1ff a1ff00 a100ff a20000ff
		9f81ff 9f829f819f9fffffffff bf00ff bf000000ff 1f 3f df`
)

func TestRFC8949(t *testing.T) {
	reader := Reader(Limits{Levels: 16, Items: 64, Pairs: 64})
	n := 0
	for what, list := range map[string]string{"kept": kept, "changed": changed, "refused": refused, "malformed": malformed} {
		for _, text := range strings.Fields(list) {
			n++
			b, err := hex.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			var v any
			err = reader.Unmarshal(b, &v)
			if bad := what == "refused" || what == "malformed"; bad != (err != nil) {
				t.Errorf("%s: %s: %v, %v", what, text, v, err)
			}
			if err != nil {
				continue
			}
			if again, err := Encoding.Marshal(v); err != nil || bytes.Equal(again, b) != (what == "kept") {
				t.Errorf("%s: %s is written as %x, %v", what, text, again, err)
			}
		}
	}
	t.Logf("%d examples", n)
}
