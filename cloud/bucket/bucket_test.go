package bucket

import (
	"bytes"
	"errors"
	"testing"

	"gocloud.dev/blob/memblob"

	"github.com/locket-dev/locket/cloud/relay/objects/objectstest"
)

func TestMemory(t *testing.T) { objectstest.Run(t, Of(memblob.OpenBucket(nil))) }

func TestFolder(t *testing.T) {
	o, err := Open(t.Context(), "file://"+t.TempDir()+"/blobs")
	if err != nil {
		t.Fatal(err)
	}
	objectstest.Run(t, o)
}

// S3 by the real client, against a stand-in that checks what S3 checks.
func TestS3(t *testing.T) {
	s := newS3(t)
	o, err := Open(t.Context(), "s3://bucket?region=eu-central-1&use_path_style=true&endpoint="+s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	objectstest.Run(t, o)
	whole := bytes.Repeat([]byte("sealed bytes "), 2<<20) // in parts
	if err := o.Put(t.Context(), "space/large/whole", bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.objects["space/large/whole"], whole) {
		t.Fatal("other bytes")
	}
	s.mustHaveSeen("PUT", "GET", "DELETE", "list", "multipart", "range")
}

func TestWrongURLs(t *testing.T) {
	for _, name := range []string{"", "blobs", "/blobs", "file://blobs", "ftp://x/y", "s3://", "%"} {
		if o, err := Open(t.Context(), name); err == nil {
			o.Close()
			t.Errorf("%q is taken", name)
		} else if name != "s3://" && !errors.Is(err, ErrURL) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
