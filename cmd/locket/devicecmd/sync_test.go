package devicecmd

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A device is named by its name or by the beginning of its id, if no other device fits.
func TestMemberOf(t *testing.T) {
	all := []serve.Member{
		{ID: memory.MemberID{0x7a, 0x63, 0x01}, Name: "phone"},
		{ID: memory.MemberID{0x7a, 0x63, 0x02}, Name: "old phone"},
		{ID: memory.MemberID{0xab, 0xcd, 0x03}, Name: "laptop"},
		{ID: memory.MemberID{0xef, 0x01, 0x04}, Name: "laptop"},
		{ID: memory.MemberID{0x12, 0x34, 0x05}, Name: "abcd"},
	}
	for who, want := range map[string]int{"old phone": 1, "phone": 0, "7a6302": 1, "7A6301": 0, "ef01": 3, all[2].ID.String(): 2} {
		if m, err := memberOf(all, who); err != nil || m.ID != all[want].ID {
			t.Errorf("%q: %v, %v; want %v", who, m.ID, err, all[want].ID)
		}
	}
	for who, say := range map[string]string{"7a63": "give more of the id", "laptop": "give more of the id", "abcd": "give more of the id", "ef0": "no device", "": "no device", "tablet": "no device", "9999": "no device"} {
		if m, err := memberOf(all, who); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, %v; want an error with %q", who, m.ID, err, say)
		}
	}
}
