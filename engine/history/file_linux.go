package history

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// networked are the types of file systems on which several machines may write
// (statfs(2), linux/magic.h).
var networked = []int64{
	unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.AFS_FS_MAGIC,
	unix.CODA_SUPER_MAGIC,
	unix.CEPH_SUPER_MAGIC, unix.V9FS_MAGIC, unix.FUSE_SUPER_MAGIC,
}

func onNetwork(f *os.File) bool {
	var s unix.Statfs_t
	err := unix.Fstatfs(int(f.Fd()), &s)
	return err == nil && slices.Contains(networked, int64(s.Type)) //nolint:unconvert // int32 on some systems
}
