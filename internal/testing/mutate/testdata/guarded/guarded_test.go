package guarded

import "testing"

func TestSmall(t *testing.T) {
	if Small(10) || !Small(9) {
		t.Error("ten is small, or nine is not")
	}
}
