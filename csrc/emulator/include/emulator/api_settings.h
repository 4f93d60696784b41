// A part of cuda_runtime_api.h: settings and hints, of which most have no effect here; what one process can have of
// IPC; functions of older versions of CUDA, under the names that these had.
#ifndef EMULATOR_API_SETTINGS_H
#define EMULATOR_API_SETTINGS_H

// Devices
EMU_CUDA(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest),
         ((void)(least ? *least = 0 : 0), (void)(greatest ? *greatest = -5 : 0), 0))
EMU_CUDA(cudaDeviceGetByPCIBusId, (int *device, const char *text), emu_device_by_bus_id(device, text))
EMU_CUDA(cudaSetDeviceFlags, (unsigned flags), emu_device_flags(&flags, 1))
EMU_CUDA(cudaGetDeviceFlags, (unsigned *flags), emu_device_flags(flags, 0))
EMU_CUDA(cudaInitDevice, (int device, unsigned device_flags, unsigned flags),
         ((void)device_flags, (void)flags, emu_set_device(device)))
EMU_CUDA(cudaSetValidDevices, (int *devices, int count),
         devices &&count > 0 ? emu_set_device(devices[0])
                             : emu_note_error(cudaErrorInvalidValue, "cudaSetValidDevices: no device is named"))
EMU_CUDA(cudaChooseDevice, (int *device, const struct cudaDeviceProp *wanted), // (all emulated devices are alike)
         device &&wanted ? (*device = 0)
                         : emu_note_error(cudaErrorInvalidValue, "cudaChooseDevice: a pointer is NULL"))
EMU_CUDA(cudaDeviceGetP2PAttribute, (int *value, enum cudaDeviceP2PAttr attribute, int device, int peer),
         attribute == cudaDevP2PAttrPerformanceRank ? ((void)(value ? *value = 0 : 0), 0)
                                                    : emu_device_peers(value, device, peer))

// Caches
EMU_CUDA(cudaDeviceSetCacheConfig, (enum cudaFuncCache config), ((void)config, 0))
EMU_CUDA(cudaDeviceGetCacheConfig, (enum cudaFuncCache * config),
         config ? (int)(*config = cudaFuncCachePreferNone)
                : emu_note_error(cudaErrorInvalidValue, "cudaDeviceGetCacheConfig: the pointer is NULL"))
EMU_CUDA(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config), ((void)config, 0))
EMU_CUDA(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig * config), // banks have 4 bytes
         config ? (*config = cudaSharedMemBankSizeFourByte, 0)
                : emu_note_error(cudaErrorInvalidValue, "cudaDeviceGetSharedMemConfig: the pointer is NULL"))
EMU_CUDA(cudaFuncSetCacheConfig, (const void *function, enum cudaFuncCache config),
         ((void)config, emu_function_set(function, cudaFuncAttributePreferredSharedMemoryCarveout, 0)))
EMU_CUDA(cudaFuncSetSharedMemConfig, (const void *function, enum cudaSharedMemConfig config),
         ((void)config, emu_function_set(function, cudaFuncAttributePreferredSharedMemoryCarveout, 0)))
EMU_CUDA(cudaCtxResetPersistingL2Cache, (void), 0)

// Streams and kernels
EMU_CUDA(cudaStreamSetAttribute, (cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue *value),
         ((void)id, value ? emu_stream_info(stream, NULL, NULL, NULL)
                          : emu_note_error(cudaErrorInvalidValue, "cudaStreamSetAttribute: the value is NULL")))
EMU_CUDA(cudaStreamGetAttribute, (cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value),
         !value ? emu_note_error(cudaErrorInvalidValue, "cudaStreamGetAttribute: the pointer for the result is NULL")
                : (__builtin_memset(value, 0, sizeof *value),
                   emu_stream_info(stream, NULL, id == cudaStreamAttributePriority ? &value->priority : NULL, NULL)))
EMU_CUDA(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from),
         emu_stream_info(to, NULL, NULL, NULL) ? emu_last_error(0) : emu_stream_info(from, NULL, NULL, NULL))
EMU_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
         (int *blocks, const void *function, int block_size, size_t dynamic_shared, unsigned flags),
         ((void)flags, emu_occupancy(blocks, function, block_size, dynamic_shared)))
EMU_CUDA(cudaOccupancyMaxPotentialClusterSize, (int *size, const void *function, const cudaLaunchConfig_t *config),
         ((void)config, emu_occupancy_clusters(NULL, size, function, NULL)))
EMU_CUDA(cudaOccupancyMaxActiveClusters, (int *clusters, const void *function, const cudaLaunchConfig_t *config),
         emu_occupancy_clusters(clusters, NULL, function, config))
EMU_CUDA(cudaGetFuncBySymbol, (cudaFunction_t * result, const void *function),
         emu_get_kernel((void **)result, function, NULL))

// Memory
EMU_CUDA(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count),
         list || !count ? emu_pool_trim(pool, SIZE_MAX) // (which checks the pool: every device can access it anyway)
                        : emu_note_error(cudaErrorInvalidValue, "cudaMemPoolSetAccess: the list is NULL"))
EMU_CUDA(cudaMemPoolGetAccess,
         (enum cudaMemAccessFlags * flags, cudaMemPool_t pool, struct cudaMemLocation *location),
         flags &&location ? (*flags = cudaMemAccessFlagsProtReadWrite, emu_pool_trim(pool, SIZE_MAX))
                          : emu_note_error(cudaErrorInvalidValue, "cudaMemPoolGetAccess: a pointer is NULL"))

// IPC: a handle can be made, but the memory and the events are of this process, so no other one can open it.
EMU_CUDA(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *pointer),
         handle ? (__builtin_memset(handle, 0, sizeof *handle),
                   __builtin_memcpy(handle->reserved, &pointer, sizeof pointer), emu_check_shareable(pointer))
                : emu_note_error(cudaErrorInvalidValue, "cudaIpcGetMemHandle: the pointer for the result is NULL"))
EMU_CUDA(cudaIpcOpenMemHandle, (void **pointer, cudaIpcMemHandle_t handle, unsigned flags),
         ((void)pointer, (void)handle, (void)flags,
          emu_note_error(cudaErrorNotSupported,
                         "cudaIpcOpenMemHandle: the memory of emulated devices belongs to one process")))
EMU_CUDA(cudaIpcCloseMemHandle, (void *pointer),
         ((void)pointer, emu_note_error(cudaErrorInvalidValue, "cudaIpcCloseMemHandle: no handle has been opened")))
EMU_CUDA(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * handle, cudaEvent_t event),
         ((void)handle, (void)event,
          emu_note_error(cudaErrorNotSupported, "cudaIpcGetEventHandle: emulated events belong to one process")))
EMU_CUDA(cudaIpcOpenEventHandle, (cudaEvent_t * event, cudaIpcEventHandle_t handle),
         ((void)handle, (void)event,
          emu_note_error(cudaErrorNotSupported, "cudaIpcOpenEventHandle: emulated events belong to one process")))

// Old names: until CUDA 12
EMU_CUDA(cudaThreadSynchronize, (void), emu_device_wait(NULL, NULL))
EMU_CUDA(cudaThreadExit, (void), emu_device_reset())
EMU_CUDA(cudaThreadSetLimit, (enum cudaLimit limit, size_t value), emu_limit((int)limit, &value, 1))
EMU_CUDA(cudaThreadGetLimit, (size_t * value, enum cudaLimit limit), emu_limit((int)limit, value, 0))
EMU_CUDA(cudaThreadSetCacheConfig, (enum cudaFuncCache config), cudaDeviceSetCacheConfig(config))
EMU_CUDA(cudaThreadGetCacheConfig, (enum cudaFuncCache * config), cudaDeviceGetCacheConfig(config))
#define cudaGetDeviceProperties_v2 cudaGetDeviceProperties

#endif
