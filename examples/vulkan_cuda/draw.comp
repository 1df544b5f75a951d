#version 450
// Draws one level of the image: red grows along x, green along y, and blue with the level. Every
// eighth line of texels is dark.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, rgba8ui) uniform writeonly uimage2D level_image;
layout(push_constant) uniform Level { uint level; } push;

void main()
{
    ivec2 size = imageSize(level_image), at = ivec2(gl_GlobalInvocationID.xy);
    if (at.x >= size.x || at.y >= size.y)
        return;
    uint dark = ((at.x | at.y) & 7) == 0 ? 2 : 1;
    uvec2 ramp = uvec2(at * 255) / uvec2(size) / dark;
    imageStore(level_image, at, uvec4(ramp, push.level * 28u, 255u));
}
