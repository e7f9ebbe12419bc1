package greedy

import "testing"

// TestWeights: what was encoded adds up again, and no cut or longer file opens.
func TestWeights(t *testing.T) {
	want := map[uint32][]Weight{0: {{1, -3}}, 0x00010000: {{0, 5}, {2, -128}}, 0x00010001: {{2, 7}}, 0xffffffff: {{1, 127}}}
	data := string(Encode(want))
	w, err := OpenWeights(data, 3)
	if err != nil {
		t.Fatal(err)
	}
	for f, list := range want {
		var got, sum [3]int32
		w.Add([]uint32{f, f ^ 0x40}, got[:])
		for _, p := range list {
			sum[p.Class] += int32(p.Value)
		}
		if got != sum {
			t.Errorf("%x: %v, not %v", f, got, sum)
		}
	}
	for _, bad := range []string{"", data[:len(data)-1], data + "x", data[1:]} {
		if _, err := OpenWeights(bad, 3); err == nil {
			t.Errorf("%d bytes were taken", len(bad))
		}
	}
	if _, err := OpenWeights(data, 2); err == nil {
		t.Error("a class that is not there was taken")
	}
}
