"""zstd with a dictionary, through the system's library, for Jetstream clients."""

import ctypes
import ctypes.util

DICTIONARY_ID = 1612007021  # Jetstream v1's

_library = None


def library():
    """None if the system does not have it."""
    global _library
    if _library is None and (name := ctypes.util.find_library("zstd")):
        _library = ctypes.CDLL(name)
        for function in ("ZDICT_finalizeDictionary", "ZSTD_decompress_usingDict"):
            getattr(_library, function).restype = ctypes.c_size_t
        _library.ZSTD_createDCtx.restype = ctypes.c_void_p
        _library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    return _library


class _Parameters(ctypes.Structure):
    _fields_ = [("level", ctypes.c_int), ("notify", ctypes.c_uint), ("id", ctypes.c_uint)]


def make_dictionary(samples, number=DICTIONARY_ID):
    """A dictionary with this id, from at least some hundred bytes of samples."""
    content = b"".join(samples)
    sizes = (ctypes.c_size_t * len(samples))(*map(len, samples))
    out = ctypes.create_string_buffer(len(content) + 4096)
    size = library().ZDICT_finalizeDictionary(
        out, ctypes.c_size_t(len(out)), content, ctypes.c_size_t(len(content)), content, sizes,
        ctypes.c_uint(len(samples)), _Parameters(3, 0, number),
    )
    assert not library().ZDICT_isError(ctypes.c_size_t(size))
    return out.raw[:size]


def frame_dictionary(frame):
    """The id of the dictionary that a frame names; 0: none."""
    return library().ZSTD_getDictID_fromFrame(frame, ctypes.c_size_t(len(frame)))


def decompress(frame, dictionary):
    size = library().ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
    out = ctypes.create_string_buffer(max(size, 1))
    context = ctypes.c_void_p(library().ZSTD_createDCtx())
    got = library().ZSTD_decompress_usingDict(
        context, out, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)), dictionary,
        ctypes.c_size_t(len(dictionary)),
    )
    library().ZSTD_freeDCtx(context)
    assert got == size
    return out.raw[:size]
