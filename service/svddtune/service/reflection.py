"""Server reflection of what callers may call, in versions v1 and v1alpha.

grpcio-reflection has v1alpha only. Both versions have the same messages, so one servicer answers
calls of both. It knows the files of the public services and those that they import, and no others:
the jobs of the workers are not for callers.
"""

from collections.abc import Iterable

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FileDescriptor
from grpc_reflection.v1alpha import reflection, reflection_pb2

_V1 = "grpc.reflection.v1.ServerReflection"


def add_reflection(server: grpc.aio.Server, services: Iterable[str]) -> None:
    """Let a server describe services, whose code is imported, by their full names."""
    default, pool = descriptor_pool.Default(), descriptor_pool.DescriptorPool()
    known = set[str]()
    for name in (*services, reflection.SERVICE_NAME):
        _add(pool, default.FindFileContainingSymbol(name), known)
    servicer = reflection.aio.ReflectionServicer(  # type: ignore[attr-defined]
        (*services, _V1, reflection.SERVICE_NAME), pool=pool
    )
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for name in (_V1, reflection.SERVICE_NAME):
        handlers = {"ServerReflectionInfo": handler}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))


def _add(pool: descriptor_pool.DescriptorPool, file: FileDescriptor, known: set[str]) -> None:
    """Add a file behind the files that it imports."""
    if file.name not in known:
        known.add(file.name)
        for imported in file.dependencies:
            _add(pool, imported, known)
        pool.AddSerializedFile(file.serialized_pb)
