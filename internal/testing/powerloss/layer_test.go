//go:build linux

package powerloss

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// ackName is a file in the layer's root. The process writes its acknowledgements to it; it is never
// on the disk.
const ackName = ".acknowledged"

// layer is the file system. Each operation holds its lock.
type layer struct {
	mu    sync.Mutex
	root  *node
	acks  []string
	cuts  []cut
	syncs int
	deaf  func(path string) bool // syncs that are ignored, to show that this is detected; nil: none
	watch bool                   // cuts are recorded
	inos  uint64                 // the last number that was assigned
	// named: syncing a new file also makes its name durable, as on ext4, XFS and btrfs. POSIX does
	// not promise it, and our own code does not rely on it.
	named bool
}

// inode is the kernel's reference to a node: the kernel may forget it, and ask again.
type inode struct {
	fs.Inode
	*node
}

// node is a file or folder.
type node struct {
	l    *layer
	ino  uint64
	path string // path when it was created
	dir  bool

	in   *node            // folder of a new file
	name string           // name in it
	data []byte           // content of a file, as seen
	disk []byte           // content as synced; never written to, only replaced
	dirt map[int]bool     // pages that differ
	now  map[string]*node // names in a folder, as seen
	last map[string]*node // as synced
}

const page = 4096

func (l *layer) file(path string) *node {
	l.inos++
	return &node{l: l, ino: l.inos, path: path, dirt: map[int]bool{}}
}

func (l *layer) folder(path string) *node {
	l.inos++
	return &node{l: l, ino: l.inos, path: path, dir: true, now: map[string]*node{}, last: map[string]*node{}}
}

var (
	_ fs.NodeLookuper  = (*inode)(nil)
	_ fs.NodeCreater   = (*inode)(nil)
	_ fs.NodeMkdirer   = (*inode)(nil)
	_ fs.NodeReaddirer = (*inode)(nil)
	_ fs.NodeUnlinker  = (*inode)(nil)
	_ fs.NodeRmdirer   = (*inode)(nil)
	_ fs.NodeRenamer   = (*inode)(nil)
	_ fs.NodeLinker    = (*inode)(nil)
	_ fs.NodeOpener    = (*inode)(nil)
	_ fs.NodeReader    = (*inode)(nil)
	_ fs.NodeWriter    = (*inode)(nil)
	_ fs.NodeFsyncer   = (*inode)(nil)
	_ fs.NodeSetattrer = (*inode)(nil)
	_ fs.NodeGetattrer = (*inode)(nil)
	_ fs.NodeStatfser  = (*inode)(nil)
)

func (n *node) attr(out *fuse.Attr) {
	out.Mode, out.Nlink = syscall.S_IFREG|0o600, 1
	if n.dir {
		out.Mode = syscall.S_IFDIR | 0o700
	}
	out.Size, out.Blksize = uint64(len(n.data)), page
	out.Blocks = (out.Size + 511) / 512
	out.Uid, out.Gid = uint32(os.Getuid()), uint32(os.Getgid())
}

func (n *inode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	n.attr(&out.Attr)
	return 0
}

func (n *inode) known(ctx context.Context, c *node, out *fuse.EntryOut) *fs.Inode {
	c.attr(&out.Attr)
	mode := uint32(syscall.S_IFREG)
	if c.dir {
		mode = syscall.S_IFDIR
	}
	return n.NewInode(ctx, &inode{node: c}, fs.StableAttr{Mode: mode, Ino: c.ino})
}

func (n *inode) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	c := n.now[name]
	if c == nil {
		return nil, syscall.ENOENT
	}
	return n.known(ctx, c, out), 0
}

func (n *inode) Create(ctx context.Context, name string, flags, _ uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	c := n.now[name]
	switch {
	case c == nil:
		c = n.l.file(filepath.Join(n.path, name))
		c.in, c.name = n.node, name
		n.now[name] = c
	case flags&syscall.O_EXCL != 0:
		return nil, nil, 0, syscall.EEXIST
	}
	return n.known(ctx, c, out), nil, c.openFlags(), 0
}

// openFlags makes acknowledgements bypass the page cache, in order.
func (n *node) openFlags() uint32 {
	if n.path == ackName {
		return fuse.FOPEN_DIRECT_IO
	}
	return 0
}

func (n *inode) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_TRUNC != 0 {
		n.l.mu.Lock()
		defer n.l.mu.Unlock()
		n.resize(0)
	}
	return nil, n.openFlags(), 0
}

func (n *inode) Mkdir(ctx context.Context, name string, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if n.now[name] != nil {
		return nil, syscall.EEXIST
	}
	c := n.l.folder(filepath.Join(n.path, name))
	n.now[name] = c
	return n.known(ctx, c, out), 0
}

func (n *inode) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	var all []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(n.now)) {
		mode := uint32(syscall.S_IFREG)
		if n.now[name].dir {
			mode = syscall.S_IFDIR
		}
		all = append(all, fuse.DirEntry{Name: name, Mode: mode})
	}
	return fs.NewListDirStream(all), 0
}

func (n *inode) Unlink(_ context.Context, name string) syscall.Errno {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	delete(n.now, name)
	return 0
}

func (n *inode) Rmdir(_ context.Context, name string) syscall.Errno {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if c := n.now[name]; c != nil && len(c.now) > 0 {
		return syscall.ENOTEMPTY
	}
	delete(n.now, name)
	return 0
}

func (n *inode) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	t := to.(*inode)
	if flags != 0 {
		return syscall.EINVAL
	}
	if old := t.now[newName]; old != nil && old.dir && len(old.now) > 0 {
		return syscall.ENOTEMPTY
	}
	t.now[newName] = n.now[name]
	delete(n.now, name)
	return 0
}

func (n *inode) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	c := target.(*inode).node
	n.now[name] = c
	return n.known(ctx, c, out), 0
}

func (n *inode) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if off >= int64(len(n.data)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(slices.Clone(n.data[off:min(off+int64(len(dest)), int64(len(n.data)))])), 0
}

func (n *inode) Write(_ context.Context, _ fs.FileHandle, b []byte, off int64) (uint32, syscall.Errno) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if n.path == ackName {
		n.l.acks = append(n.l.acks, strings.Fields(string(b))...)
		return uint32(len(b)), 0
	}
	if end := off + int64(len(b)); end > int64(len(n.data)) {
		n.resize(int(end))
	}
	copy(n.data[off:], b)
	for p := off / page; p*page < off+int64(len(b)); p++ {
		n.dirt[int(p)] = true
	}
	return uint32(len(b)), 0
}

func (n *node) resize(size int) {
	if size <= len(n.data) {
		clear(n.data[size:])
		n.data = n.data[:size]
	} else {
		n.data = append(n.data, make([]byte, size-len(n.data))...)
	}
	n.dirt[size/page] = true
}

func (n *inode) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	if size, ok := in.GetSize(); ok {
		n.resize(int(size))
	}
	n.attr(&out.Attr)
	return 0
}

func (n *inode) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize, out.Blocks, out.Bfree, out.Bavail = page, page, 1<<24, 1<<24, 1<<24
	out.NameLen = 255
	return 0
}

// Fsync is called for files and for folders.
func (n *inode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	n.l.syncs++
	if n.l.watch {
		n.l.keep(n.node)
	}
	if n.l.deaf != nil && n.l.deaf(n.path) {
		return 0
	}
	if n.dir {
		n.last = maps.Clone(n.now)
		return 0
	}
	if n.l.named && n.in != nil && n.in.now[n.name] == n.node {
		n.in.last[n.name] = n.node
	}
	if len(n.dirt) > 0 {
		n.disk = slices.Clone(n.data)
		clear(n.dirt)
	}
	return 0
}

// mount mounts a layer on a folder. Without FUSE the test fails, so that it is not skipped
// unnoticed.
func mount(t *testing.T) (*layer, string) {
	t.Helper()
	l := &layer{}
	l.root = l.folder("")
	dir := t.TempDir()
	s, err := fs.Mount(dir, &inode{node: l.root}, &fs.Options{MountOptions: fuse.MountOptions{DirectMount: true, FsName: "powerloss", Name: "powerloss", MaxWrite: 128 << 10}})
	if err != nil {
		t.Fatalf("mount: %v (wants /dev/fuse, and root or fusermount3)", err)
	}
	t.Cleanup(func() {
		if err := s.Unmount(); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return l, dir
}
